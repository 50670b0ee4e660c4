// Enlarges a picture smoothly to the size of the viewport.

uniform sampler2D small;
uniform vec2 size;    // size of the viewport, in pixels
uniform vec2 origin;  // lower left corner of the viewport, in pixels

out vec4 colour;

void main() {
    colour = texture(small, (gl_FragCoord.xy - origin) / size);
}
