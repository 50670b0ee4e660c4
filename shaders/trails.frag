// A segment of a trail: a strip with soft edges. The light of overlapping strips adds up.

in vec4 tint;
in float across;

uniform bool covers;  // meaning of alpha: false: sum of the light; true: covered share of the pixel, which is 0 here
uniform float near;

out vec4 light;

void main() {
    float fall = 1.0 - across * across;
    light = (covers ? vec4(light_of(tint.rgb / max(tint.a, 1e-6)) * tint.a, 0.0) : tint) * fall;
    gl_FragDepth = near * gl_FragCoord.w;
}
