// The pixel of the layer that lies over this one.

uniform sampler2D layer;

out vec4 colour;

void main() {
    colour = texelFetch(layer, ivec2(gl_FragCoord.xy), 0);
}
