// Stars, infinitely far away.

in vec3 direction;
in vec2 star;  // how bright, and how warm its colour is, 0 to 1

uniform mat4 view_projection;
uniform float brightness;
uniform float scale;  // pixels there are to one of a picture of the reference height

flat out vec4 tint;

void main() {
    gl_Position = view_projection * vec4(direction, 0.0);
    gl_PointSize = (1.9 + 1.3 * star.x) * max(scale, 1.0);
    vec3 hue = mix(vec3(0.75, 0.84, 1.0), vec3(1.0, 0.86, 0.72), star.y);
    tint = vec4(hue, 1.0) * (brightness * star.x);

    if (STAYS_INSIDE && is_outside(gl_Position)) {
        unsee(gl_Position, gl_PointSize, tint);
    }
}
