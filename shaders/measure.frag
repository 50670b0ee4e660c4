// Measures the brightness of a picture: sums over blocks of 8 x 8 pixels of the light, using a quarter of the pixels.

uniform sampler2D light;

out vec4 sums;

void main() {
    ivec2 corner = ivec2(gl_FragCoord.xy) * 8;
    ivec2 last = textureSize(light, 0) - 1;
    vec2 sum = vec2(0.0);
    for (int y = 0; y < 8; y += 2) {
        for (int x = 0; x < 8; x += 2) {
            // The sampled pixels form a staggered pattern that includes every row and every column.
            float lit = texelFetch(light, min(corner + ivec2(x + (y >> 1 & 1), y + (x >> 1 & 1)), last), 0).a;
            // Faint light has little weight, and the weight of strong light is limited.
            float weight = lit / (1.0 + 0.25 * lit);
            if (weight > 0.0)
                sum += weight * vec2(log(min(lit, 6e4)), 1.0);
        }
    }
    sums = vec4(sum, 0.0, 0.0);
}
