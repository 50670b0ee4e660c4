// Measures brightness: sums over a block of pixels of the light, using every other pixel.

uniform sampler2D light;

out vec4 sums;

void main() {
    ivec2 corner = ivec2(gl_FragCoord.xy) * 8;
    ivec2 last = textureSize(light, 0) - 1;
    vec2 sum = vec2(0.0);
    for (int y = 0; y < 8; y += 2) {
        for (int x = 0; x < 8; x += 2) {
            // A staggered pattern, which leaves out no row and no column.
            float lit = texelFetch(light, min(corner + ivec2(x + (y >> 1 & 1), y + (x >> 1 & 1)), last), 0).a;
            // Faint light has little weight, and the weight of strong light is limited.
            float weight = lit / (1.0 + 0.25 * lit);
            if (weight > 0.0)
                sum += weight * vec2(log(min(lit, 6e4)), 1.0);
        }
    }
    sums = vec4(sum, 0.0, 0.0);
}
