// Covers the viewport with one triangle, and computes the exposure of the picture.

uniform sampler2D measured;  // a single pixel: sum of weighted logarithms of the light, and sum of the weights
uniform bool automatic;
uniform float stops;
uniform vec3 background;  // background colour, in sRGB

flat out float exposure;
flat out vec3 behind;  // background colour as light

// The light level that needs no adaptation, and the limits of the eye's adaptation to darker and brighter pictures.
const float KEY = 1.1;
const float REACH = 0.55;
const vec2 LIMITS = vec2(0.2, 4.0);

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0);
    exposure = exp2(stops);
    behind = light_of(background);
    if (automatic) {
        vec2 sums = texelFetch(measured, ivec2(0), 0).rg;
        float key = sums.g > 0.0 ? exp(sums.r / sums.g) : KEY;
        exposure *= clamp(pow(KEY / key, REACH), LIMITS.x, LIMITS.y);
    }
}
