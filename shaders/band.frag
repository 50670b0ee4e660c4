in vec4 tint;

uniform bool covers;  // meaning of alpha: false: sum of the light; true: covered share of the pixel, which is 0 here

out vec4 light;

void main() {
    light = covers ? vec4(light_of(tint.rgb / max(tint.a, 1e-6)) * tint.a, 0.0) : tint;
}
