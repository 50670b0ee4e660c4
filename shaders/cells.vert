// An edge of a tree cell, drawn as a box: a strip between two corners. Each box has 12 edges of 4 vertices.

in vec3 low;
in vec3 high;
in float role;  // 0: cell at the chosen depth; 1: opened by a body's tree walk; 2: used as a whole by the tree walk

uniform mat4 view_projection;
uniform vec2 area;       // size of the picture, in pixels
uniform float width;     // half the width of the strip, in pixels
uniform float distance;  // distance from the eye to the camera's target
uniform float near;
uniform vec3 opacity;    // opacity of a line at the camera's target, for each role

out vec4 tint;
out float across;  // position across the strip, from -1 to 1

// Colour-blind people can also distinguish blue and orange.
const vec3 HUES[3] = vec3[](vec3(0.62, 0.72, 0.86), vec3(0.95, 0.62, 0.24), vec3(0.36, 0.74, 0.98));

void main() {
    int edge = gl_VertexID / 4, at = gl_VertexID % 4, axis = edge / 4;
    vec3 sides;
    sides[(axis + 1) % 3] = float(edge & 1);
    sides[(axis + 2) % 3] = float(edge >> 1 & 1);
    sides[axis] = 0.0;
    vec4 a = view_projection * vec4(mix(low, high, sides), 1.0);
    sides[axis] = 1.0;
    vec4 b = view_projection * vec4(mix(low, high, sides), 1.0);
    // Cuts off the part of an edge behind the eye, slightly in front of the near plane because of rounding.
    float front = 2.0 * near;
    bool is_behind = max(a.w, b.w) < front;
    if (a.w < front)
        a = mix(a, b, (front - a.w) / (b.w - a.w));
    else if (b.w < front)
        b = mix(b, a, (front - b.w) / (a.w - b.w));
    vec2 along = (b.xy / b.w - a.xy / a.w) * area;
    float reach = length(along);
    // The comparison also excludes NaN.
    if (is_behind || !(reach > 1e-3)) {
        gl_Position = UNSEEN;
        tint = vec4(0.0);
        across = 0.0;
        return;
    }
    across = (at & 1) == 1 ? 1.0 : -1.0;
    vec4 end = at >= 2 ? b : a;
    vec2 aside = vec2(-along.y, along.x) / reach * (across * (width + 0.5)) * 2.0 / area;
    gl_Position = vec4(end.xy + aside * end.w, 0.0, end.w);
    int nth = int(role + 0.5);
    // Far lines and short lines are fainter, so that crowded boxes do not cover the bodies.
    float far = clamp(distance / end.w, 0.25, 1.0), short_ = clamp(reach / (40.0 * (width + 0.5)), 0.15, 1.0);
    tint = vec4(HUES[nth], opacity[nth] * far * short_);
}
