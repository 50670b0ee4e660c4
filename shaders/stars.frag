flat in vec4 tint;

uniform bool covers;  // meaning of alpha: false: sum of the light; true: covered share of the pixel, here 0

#ifdef DIRECT  // laid over a picture, as sRGB
flat in float exposure;
#endif
out vec4 light;

void main() {
    vec2 offset = gl_PointCoord * 2.0 - 1.0;
    float fall = max(1.0 - dot(offset, offset), 0.0);
    light = (covers ? vec4(light_of(tint.rgb), 0.0) : tint) * fall;
#ifdef DIRECT
    vec4 seen = shown(max(light, 1e-9), exposure);
    light = vec4(seen.rgb * seen.a, 0.0);
#endif
}
