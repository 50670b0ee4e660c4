// A segment of a trail: a strip between the positions of a body at two times, each a row of `past` or the current
// position.

in vec4 body;
in float value;

uniform samplerBuffer past;   // ring buffer of rows; a row holds the positions of all bodies at one time
uniform int bodies;
uniform int newest;           // index of the newest row
uniform int rows;             // number of rows in the ring buffer
uniform float since;          // frames since the newest row was stored
uniform float stride;         // frames between two rows
uniform float span;           // length of a trail, in frames
uniform mat4 view_projection;
uniform vec2 area;            // size of the picture, in pixels
uniform float width;          // half the width of the strip, in pixels
uniform float light;          // light of the newest end of a trail
uniform bool hides;           // whether segments with w = 0 at either end are hidden
uniform float jump;           // longest segment that is drawn; longer ones are jumps, such as a wrap-around
uniform float near;

out vec4 tint;
out float across;  // position across the strip, from -1 to 1

vec4 place(int nth) {
    if (nth == 0)
        return body;
    return texelFetch(past, (newest + rows - (nth - 1)) % rows * bodies + gl_InstanceID);
}

float age(int nth) {
    return nth == 0 ? 0.0 : since + stride * float(nth - 1);
}

void main() {
    // Odd corners are on the far side, the last two at the older end.
    int piece = gl_VertexID / 4, at = gl_VertexID % 4;
    vec4 young = place(piece), old = place(piece + 1);
    vec4 a = view_projection * vec4(young.xyz, 1.0), b = view_projection * vec4(old.xyz, 1.0);
    vec2 along = (b.xy / b.w - a.xy / a.w) * area;
    float reach = length(along);
    float moved = length(young.xyz - old.xyz);
    // The comparison also leaves out NaN.
    bool shown = a.w > near && b.w > near && reach > 1e-3 && reach < 1e6 && moved < jump
              && !(hides && (young.w == 0.0 || old.w == 0.0));
    if (!shown) {
        gl_Position = UNSEEN;
        tint = vec4(0.0);
        across = 0.0;
        return;
    }
    bool is_old = at >= 2;
    across = (at & 1) == 1 ? 1.0 : -1.0;
    vec4 end = is_old ? b : a;
    vec2 aside = vec2(-along.y, along.x) / reach * (across * (width + 0.5)) * 2.0 / area;
    gl_Position = vec4(end.xy + aside * end.w, end.zw);
    float share = clamp(1.0 - age(piece + (is_old ? 1 : 0)) / span, 0.0, 1.0);
    tint = vec4(hue_of(value), 1.0) * (light * light_share(value) * share * sqrt(share));
}
