#version 140

// A soft round sprite. Light adds up: the colours weighted by it, and its sum in alpha.

in vec4 tint;
out vec4 light;

void main() {
    vec2 offset = gl_PointCoord * 2.0 - 1.0;
    float fall = max(1.0 - dot(offset, offset), 0.0);
    light = tint * (fall * fall * fall);
}
