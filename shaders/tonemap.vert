// Covers the viewport with one triangle, and computes the exposure (the factor for the light) of the picture.

uniform sampler2D measured;  // a single pixel: sum of weighted logarithms of the light, and sum of the weights
uniform bool automatic;
uniform float stops;
uniform vec3 background;  // background colour, in sRGB

flat out float exposure;
flat out vec3 behind;  // background colour as light

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0);
    exposure = exposure_of(measured, automatic, stops);
    behind = light_of(background);
}
