// A point of the band of the Milky Way, at infinite distance.

in vec3 direction;
in vec2 star;  // brightness and warmth of the colour, each from 0 to 1

uniform mat4 view_projection;
uniform float brightness;

out vec4 tint;

void main() {
    gl_Position = view_projection * vec4(direction, 0.0);
    gl_Position.z = 0.0;  // between the near and the far plane
    tint = vec4(mix(vec3(0.74, 0.82, 1.0), vec3(1.0, 0.91, 0.8), star.y), 1.0) * (brightness * star.x);
}
