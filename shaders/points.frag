// A soft round sprite. The light of sprites adds up: RGB holds the sum of colours weighted by light, and alpha the sum
// of the light. With DIRECT, the sprite is instead added to a finished picture, as sRGB.

flat in vec4 tint;
flat in float glow;
out vec4 light;

void main() {
    vec2 offset = gl_PointCoord * 2.0 - 1.0;
    float fall = max(1.0 - dot(offset, offset), 0.0);
    float halo = fall * fall * fall;
    float core = halo * halo;
    core *= core;
    core *= core;
    light = tint * mix(halo, 0.2 * halo * fall + 3.0 * core, glow);
#ifdef DIRECT
    light = laid_over(light);
#endif
}
