// A piece of a trail: a strip between where a body was at two times, each a row of `past`, or is now.

in vec4 body;
in float value;

uniform samplerBuffer past;   // rows of all bodies
uniform int bodies;
uniform int newest;           // row
uniform int rows;             // that there are, going round
uniform float since;          // pictures since the newest row
uniform float stride;         // pictures from row to row
uniform float span;           // pictures that a trail goes back
uniform mat4 view_projection;
uniform vec2 area;            // the picture's size in pixels
uniform float width;          // half the strip's, in pixels
uniform float light;          // of a fresh trail
uniform bool hides;           // what has w = 0 at either end
uniform float jump;           // no body goes so far at a time
uniform float near;

out vec4 tint;
out float across;  // -1 to 1

vec4 place(int nth) {
    if (nth == 0)
        return body;
    return texelFetch(past, (newest + rows - (nth - 1)) % rows * bodies + gl_InstanceID);
}

float age(int nth) {
    return nth == 0 ? 0.0 : since + stride * float(nth - 1);
}

void main() {
    // Odd corners are at the far side, the later two at the older end.
    int piece = gl_VertexID / 4, at = gl_VertexID % 4;
    vec4 young = place(piece), old = place(piece + 1);
    vec4 a = view_projection * vec4(young.xyz, 1.0), b = view_projection * vec4(old.xyz, 1.0);
    vec2 along = (b.xy / b.w - a.xy / a.w) * area;
    float reach = length(along);
    float moved = length(young.xyz - old.xyz);
    // Written so that what is no number is not drawn.
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
    tint = vec4(hue_of(value), 1.0) * (light * share * sqrt(share));
}
