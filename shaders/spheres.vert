// One ball: where it is from the eye, how large it is shown, and in what colour.

in vec4 body;    // x, y, z, radius
in float value;  // what the colour shows

uniform vec3 eye;
uniform vec3 back;          // from what is looked at to the eye
uniform float pixel;        // a pixel's height at unit distance
uniform float distance;     // from the eye to the target
uniform float depth_cue;    // how fast light fades beyond the target: a power of the distance
uniform float least_radius; // that a ball is shown with, in pixels

out vec4 sphere;  // the centre from the eye, and the radius; not to be drawn without one
out vec4 colour;  // as light, and how opaque it is

void main() {
    vec3 centre = body.xyz - eye;
    // A ball that would fall between the pixels is shown larger, and clearer in the same measure; but not so
    // clear that it cannot be seen.
    float least = least_radius * pixel * -dot(centre, back);
    float radius = body.w > 0.0 ? max(body.w, least) : 0.0;
    float shrink = min(body.w / radius, 1.0);
    sphere = vec4(centre, radius);
    float cue = pow(clamp(distance / max(-dot(centre, back), 1e-6 * distance), 1e-3, 1.0), depth_cue);
    colour = vec4(light_of(hue_of(value)) * cue, max(shrink * shrink, 0.2));
}
