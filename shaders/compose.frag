// Draws the balls over the background, converting light to sRGB.

uniform sampler2D light;    // light of the balls times their share of the pixel; alpha: the share
#ifdef BLOOM
uniform sampler2D bloom;
uniform float bloom_share;  // factor for the bloom before it is added
#endif
uniform vec2 size;          // size of the picture, in pixels
uniform vec2 origin;        // lower left corner of the viewport, in pixels
uniform vec3 background;    // background colour, in sRGB

flat in float exposure;
flat in vec3 behind;  // background colour as light
out vec4 colour;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy - origin);
    vec4 balls = texelFetch(light, pixel, 0);
#ifdef BLOOM
    balls.rgb += bloom_share * texture(bloom, (gl_FragCoord.xy - origin) / size).rgb;
#endif
    if (balls == vec4(0.0)) {
        colour = vec4(background, 1.0);
        return;
    }
    vec3 sum = balls.rgb * exposure + behind * (1.0 - balls.a);
    colour = vec4(dithered(srgb_of(sum), pixel), 1.0);
}
