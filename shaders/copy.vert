// Covers the viewport with one triangle, and interpolates positions in an image.

uniform vec2 corner;  // position in the image, from 0 to 1, that is shown at the lower left corner of the viewport
uniform vec2 extent;  // size of the part of the image that the viewport shows; 1 is the whole image

out vec2 at;

void main() {
    vec2 place = 2.0 * vec2(gl_VertexID & 1, gl_VertexID >> 1);
    at = corner + extent * place;
    gl_Position = vec4(2.0 * place - 1.0, 0.0, 1.0);
}
