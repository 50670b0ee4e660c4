// Stars at infinite distance.

in vec3 direction;
in vec2 star;  // brightness and warmth of the colour, each from 0 to 1

uniform mat4 view_projection;
uniform float brightness;
uniform float scale;  // height of the picture, divided by the reference height

#ifdef DIRECT
uniform sampler2D measured;
uniform bool automatic;
uniform float stops;
#endif
flat out vec4 tint;

void main() {
    gl_Position = view_projection * vec4(direction, 0.0);
    gl_PointSize = (1.9 + 1.3 * star.x) * max(scale, 1.0);
    vec3 hue = mix(vec3(0.75, 0.84, 1.0), vec3(1.0, 0.86, 0.72), star.y);
    tint = vec4(hue, 1.0) * (brightness * star.x);

#ifdef DIRECT
    tint *= exposure_of(measured, automatic, stops);
#endif

    if (STAYS_INSIDE && is_outside(gl_Position)) {
        unsee(gl_Position, gl_PointSize, tint);
    }
}
