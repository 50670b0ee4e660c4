// One ball: its position relative to the eye, its drawn radius, and its colour.

in vec4 body;    // x, y, z, radius
in float value;  // quantity that the colour shows

uniform vec3 eye;
uniform vec3 back;          // unit vector from the target to the eye
uniform float pixel;        // height of a pixel at unit distance
uniform float distance;     // from the eye to the target
uniform float depth_cue;    // how fast light fades beyond the target: the exponent of the distance
uniform float least_radius; // smallest radius with which a ball is drawn, in pixels

out vec4 sphere;  // centre relative to the eye, and radius; a radius of 0 is not drawn
out vec4 colour;  // colour as light, and opacity

void main() {
    vec3 centre = body.xyz - eye;
    // A ball smaller than a pixel is drawn larger and more transparent in proportion, but never so transparent that it
    // becomes invisible.
    float least = least_radius * pixel * -dot(centre, back);
    float radius = body.w > 0.0 ? max(body.w, least) : 0.0;
    float shrink = min(body.w / radius, 1.0);
    sphere = vec4(centre, radius);
    float cue = pow(clamp(distance / max(-dot(centre, back), 1e-6 * distance), 1e-3, 1.0), depth_cue);
    colour = vec4(light_of(hue_of(value)) * cue, max(shrink * shrink, 0.2));
}
