// Copies a layer to the picture, pixel by pixel.

uniform sampler2D layer;

out vec4 colour;

void main() {
    colour = texelFetch(layer, ivec2(gl_FragCoord.xy), 0);
}
