// A segment of a trail: a strip between two points of the curve through a body's past positions. The curve is a Catmull–Rom
// spline over time (Catmull and Rom, A Class of Local Interpolating Splines, 1974).

in vec4 body;
in float value;

uniform samplerBuffer past;   // ring buffer of rows; a row holds the positions of all bodies at one time
uniform int bodies;
uniform int newest;           // index of the newest row
uniform int rows;             // number of rows in the ring buffer
uniform int filled;           // number of rows that hold positions
uniform int parts;            // number of segments between two consecutive positions of a body
uniform float since;          // number of frames since the newest row was stored
uniform float stride;         // number of frames between two rows
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

// Returns the velocity at the `nth` newest position `here`, from the positions before and after that position.
vec3 velocity(int nth, vec3 here) {
    int before = max(nth - 1, 0), after = min(nth + 1, filled);
    vec4 young = before == nth ? vec4(here, 1.0) : place(before), old = after == nth ? vec4(here, 1.0) : place(after);
    float time = age(after) - age(before);
    // The velocity across a jump, such as a wrap-around, is undefined; uses zero instead.
    return time > 0.0 && length(young.xyz - old.xyz) < jump ? (old.xyz - young.xyz) / time : vec3(0.0);
}

// Returns the point of the curve at the fraction `share` of the way from the `nth` newest position to the next older
// one.
vec3 curve(int nth, vec3 young, vec3 old, float share) {
    if (parts == 1)
        return share == 0.0 ? young : old;
    float time = age(nth + 1) - age(nth), s = share, r = 1.0 - share;
    return r * r * ((1.0 + 2.0 * s) * young + s * time * velocity(nth, young))
           + s * s * ((1.0 + 2.0 * r) * old - r * time * velocity(nth + 1, old));
}

void main() {
    // Odd vertices are on one side of the strip and even vertices on the other; the last two are at the older end.
    int piece = gl_VertexID / 4, at = gl_VertexID % 4;
    int interval = piece / parts;
    float begins = float(piece % parts) / float(parts), ends = float(piece % parts + 1) / float(parts);
    vec4 young = place(interval), old = place(interval + 1);
    float moved = length(young.xyz - old.xyz);
    vec3 start = curve(interval, young.xyz, old.xyz, begins), stop = curve(interval, young.xyz, old.xyz, ends);
    vec4 a = view_projection * vec4(start, 1.0), b = view_projection * vec4(stop, 1.0);
    vec2 along = (b.xy / b.w - a.xy / a.w) * area;
    float reach = length(along);
    // The comparisons also exclude NaN.
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
    float frames = mix(age(interval), age(interval + 1), is_old ? ends : begins);
    float share = clamp(1.0 - frames / span, 0.0, 1.0);
    tint = vec4(hue_of(value), 1.0) * (light * light_share(value) * share * sqrt(share));
}
