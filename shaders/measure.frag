// How bright what is lit is: sums over a block of the light's pixels, of which every other is looked at.

uniform sampler2D light;

out vec4 sums;

void main() {
    ivec2 corner = ivec2(gl_FragCoord.xy) * 8;
    ivec2 last = textureSize(light, 0) - 1;
    vec2 sum = vec2(0.0);
    for (int y = 0; y < 8; y += 2) {
        for (int x = 0; x < 8; x += 2) {
            // Beside the diagonal, so that no row and no column is left out.
            float lit = texelFetch(light, min(corner + ivec2(x + (y >> 1 & 1), y + (x >> 1 & 1)), last), 0).a;
            // What is hardly seen hardly counts, and no light however strong counts for all.
            float weight = lit / (1.0 + 0.25 * lit);
            if (weight > 0.0)
                sum += weight * vec2(log(min(lit, 6e4)), 1.0);
        }
    }
    sums = vec4(sum, 0.0, 0.0);
}
