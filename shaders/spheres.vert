// One ball: where it is from the eye, how large it is shown, and in what colour.

in vec4 body;    // x, y, z, radius
in float value;  // what the colour shows

uniform vec3 eye;
uniform vec3 back;          // from what is looked at to the eye
uniform float pixel;        // a pixel's height at unit distance
uniform float least_radius; // that a ball is shown with, in pixels

out Ball {
    vec3 centre;
    float radius;
    vec3 albedo;
    float opacity;
} ball;

void main() {
    ball.centre = body.xyz - eye;
    float ahead = -dot(ball.centre, back);
    // A ball that would fall between the pixels is shown larger, and clearer in the same measure; but not so
    // clear that it cannot be seen.
    float least = least_radius * pixel * max(ahead, 0.0);
    bool held_out = !(body.w > 0.0);
    ball.radius = held_out ? 0.0 : max(body.w, least);
    float shrink = min(body.w / ball.radius, 1.0);
    ball.opacity = max(shrink * shrink, 0.2);
    ball.albedo = light_of(hue_of(value));
}
