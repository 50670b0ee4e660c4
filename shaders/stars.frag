flat in vec4 tint;

uniform bool covers;  // meaning of alpha: false: sum of the light; true: covered share of the pixel, which is 0 here

out vec4 light;

void main() {
    vec2 offset = gl_PointCoord * 2.0 - 1.0;
    float fall = max(1.0 - dot(offset, offset), 0.0);
    light = (covers ? vec4(light_of(tint.rgb), 0.0) : tint) * fall;
#ifdef DIRECT
    light = laid_over(light);
#endif
}
