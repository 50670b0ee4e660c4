// Copies a part of an image to the viewport. The position in the image is an input: llvmpipe then takes less time than
// to compute it from gl_FragCoord, and a fifth less than for glBlitFramebuffer.

in vec2 at;

uniform sampler2D image;

out vec4 colour;

void main() {
    colour = texture(image, at);
}
