// Copies the pixel of the layer at this position.

uniform sampler2D layer;

out vec4 colour;

void main() {
    colour = texelFetch(layer, ivec2(gl_FragCoord.xy), 0);
}
