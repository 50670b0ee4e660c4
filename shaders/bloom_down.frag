// Reduces a picture to half its width and height with a soft filter (Bjorge, Bandwidth-Efficient Rendering, SIGGRAPH
// 2015). The first pass keeps only bright pixels.

uniform sampler2D whole;
uniform vec2 pixel;   // 1 / size of `whole`
uniform vec2 half_size;
uniform int pick;     // pixels to keep: 0: all, 1: bright pixels of glowing points, 2: bright pixels of balls

out vec4 light;

vec4 picked(vec2 at) {
    vec4 found = min(texture(whole, at), 6e4);
    if (pick == 1)
        found *= found.a / (0.5 + found.a);
    if (pick == 2)
        found = vec4(found.rgb * smoothstep(0.35, 1.1, max(found.r, max(found.g, found.b))), 0.0);
    return found;
}

void main() {
    vec2 at = gl_FragCoord.xy / half_size;
    light = (4.0 * picked(at) + picked(at + pixel * vec2(-1.0, -1.0)) + picked(at + pixel * vec2(1.0, -1.0))
             + picked(at + pixel * vec2(-1.0, 1.0)) + picked(at + pixel * vec2(1.0, 1.0))) / 8.0;
}
