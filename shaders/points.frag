// A soft round sprite. Light adds up: RGB holds colours weighted by light, alpha the sum of the light. With DIRECT, the
// sprite is laid over a picture instead, as sRGB.

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
