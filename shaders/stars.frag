flat in vec4 tint;

uniform bool covers;  // whether alpha is the light's sum, or how much of the pixel is covered, which is nothing

out vec4 light;

void main() {
    vec2 offset = gl_PointCoord * 2.0 - 1.0;
    float fall = max(1.0 - dot(offset, offset), 0.0);
    light = (covers ? vec4(light_of(tint.rgb), 0.0) : tint) * fall;
}
