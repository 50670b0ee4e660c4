// Copies a part of an image to the viewport. The position in the image is an input, because computing it from
// gl_FragCoord takes llvmpipe a third more time.

in vec2 at;

uniform sampler2D image;

out vec4 colour;

void main() {
    colour = texture(image, at);
}
