// Enlarges a picture to twice its width and height, and blends it with the existing pixels.

uniform sampler2D small;
uniform vec2 pixel;  // 1 / size of `small`
uniform vec2 size;   // size of the enlarged picture, in pixels
uniform float share;

out vec4 light;

void main() {
    vec2 at = gl_FragCoord.xy / size;
    vec4 sum = texture(small, at + pixel * vec2(-1.0, 0.0)) + texture(small, at + pixel * vec2(1.0, 0.0))
             + texture(small, at + pixel * vec2(0.0, -1.0)) + texture(small, at + pixel * vec2(0.0, 1.0));
    vec4 corners = texture(small, at + pixel * vec2(-0.5, -0.5)) + texture(small, at + pixel * vec2(0.5, -0.5))
                 + texture(small, at + pixel * vec2(-0.5, 0.5)) + texture(small, at + pixel * vec2(0.5, 0.5));
    light = share * (sum + 2.0 * corners) / 12.0;
}
