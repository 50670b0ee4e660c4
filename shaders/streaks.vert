// A tracer of a flow: a streak that ends at the tracer and points against its velocity.

in vec4 body;    // position (x, y) and velocity (z, w - 1) of the tracer; w = 0: hidden
in float value;  // quantity that the colour shows

uniform mat4 view_projection;
uniform vec2 area;        // size of the picture, in pixels
uniform float width;      // half the width of a streak, in pixels
uniform float reach;      // length of a streak, divided by the speed of the tracer
uniform float longest;    // maximum length of a streak; the image of the flow is 2 long in the same unit
uniform vec2 half_size;   // half the size of the image of the flow; streaks end at its edge
uniform float light;      // light of the streak at the tracer
uniform bool neutral;     // true: shades of white, which stand out over any field; false: colours of the palette

out vec4 tint;
out float across;  // position across the streak, from -1 to 1

const vec3 SLOW = vec3(0.55, 0.60, 0.68);
const vec3 FAST = vec3(1.00, 0.99, 0.96);

void main() {
    vec2 back = vec2(body.z, body.w - 1.0) * -reach;
    float length_ = length(back);
    vec2 room = (half_size + sign(back) * -body.xy) / max(abs(back), 1e-12);
    back *= clamp(min(min(1.0, longest / max(length_, 1e-12)), min(room.x, room.y)), 0.0, 1.0);
    vec4 head = view_projection * vec4(body.xy, 0.0, 1.0);
    vec4 tail = view_projection * vec4(body.xy + back, 0.0, 1.0);
    // The comparison of the length also excludes NaN.
    if (body.w == 0.0 || !(length_ < 1e9) || head.w <= 0.0 || tail.w <= 0.0) {
        gl_Position = UNSEEN;
        tint = vec4(0.0);
        across = 0.0;
        return;
    }
    vec2 along = (tail.xy / tail.w - head.xy / head.w) * area;
    float long_ = length(along);
    along = long_ > 1e-3 ? along / long_ : vec2(1.0, 0.0);
    // Odd vertices are on one side of the streak and even vertices on the other; the last two are at its tail. The ends
    // extend as far beyond the streak as the sides do.
    bool is_tail = gl_VertexID >= 2;
    across = (gl_VertexID & 1) == 1 ? 1.0 : -1.0;
    vec4 end = is_tail ? tail : head;
    vec2 pixels = vec2(-along.y, along.x) * (across * (width + 0.5)) + along * (is_tail ? width + 0.5 : -width - 0.5);
    gl_Position = vec4(end.xy + pixels * end.w * 2.0 / area, end.zw);
    float share = clamp((value - value_range.x) / (value_range.y - value_range.x), 0.0, 1.0);
    vec3 hue = neutral ? mix(SLOW, FAST, share) : hue_of(value);
    tint = vec4(hue, 1.0) * (is_tail ? 0.1 * light : light);
}
