// From light to a picture. The hue is the mean of what shines there, so that a crowd keeps its colour where plain
// addition would end in white; only the brightness saturates.

uniform sampler2D light;
#ifdef BLOOM
uniform sampler2D bloom;
uniform float bloom_share;  // how much of it is added
#endif
uniform vec2 size;          // of the picture, in pixels
uniform vec2 origin;        // of the viewport, in pixels
uniform vec3 background;    // sRGB
uniform bool over;          // blends with what is there already, in place of the background

flat in float exposure;
out vec4 colour;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy - origin);
    vec4 sum = min(texelFetch(light, pixel, 0), vec4(6e4));  // half floats end there, and infinity has no hue
#ifdef BLOOM
    sum += bloom_share * texture(bloom, (gl_FragCoord.xy - origin) / size);
#endif
    if (sum.a == 0.0) {  // most of most pictures
        colour = over ? vec4(0.0) : vec4(background, 1.0);
        return;
    }
    vec3 hue = sum.rgb / sum.a;
    float lit = sum.a * exposure;
    float dim = 1.0 / (1.0 + 0.5 * lit);
    float shown = 1.0 - dim * dim;
    // Past saturation a crowd shows its density by paling, a little for each doubling.
    float pale = clamp(log2(max(lit, 1.0)) * 0.13, 0.0, 0.8);
    vec3 shine = mix(hue, vec3(1.0, 0.98, 0.95), pale);
    colour = over ? vec4(shine, shown) : vec4(dithered(mix(background, shine, shown), pixel), 1.0);
}
