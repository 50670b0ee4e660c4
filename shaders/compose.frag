// Puts the balls in front of the background: from light to sRGB.

uniform sampler2D light;  // times its share of the pixel, which stands in alpha
uniform vec2 origin;      // of the viewport, in pixels
uniform vec3 background;  // sRGB

out vec4 colour;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy - origin);
    vec4 balls = texelFetch(light, pixel, 0);
    if (balls.a == 0.0) {
        colour = vec4(background, 1.0);
        return;
    }
    vec3 sum = balls.rgb + light_of(background) * (1.0 - balls.a);
    colour = vec4(dithered(srgb_of(sum), pixel), 1.0);
}
