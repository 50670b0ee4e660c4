// Puts the balls in front of the background: from light to sRGB.

uniform sampler2D light;    // times its share of the pixel, which stands in alpha
#ifdef BLOOM
uniform sampler2D bloom;
uniform float bloom_share;  // how much of it is added
#endif
uniform vec2 size;          // of the picture, in pixels
uniform vec2 origin;        // of the viewport, in pixels
uniform vec3 background;    // sRGB

flat in float exposure;
flat in vec3 behind;  // light of the background
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
