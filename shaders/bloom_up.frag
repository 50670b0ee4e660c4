// A smaller picture spread over one of twice the size, to be mixed with what is there.

uniform sampler2D small;
uniform vec2 pixel;  // one over the size of `small`
uniform vec2 size;   // of the larger
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
