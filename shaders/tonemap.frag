// Converts light to sRGB. The hue is the mean hue of a pixel's light and only the brightness saturates, so that crowds
// of bodies keep their colour instead of turning white.

uniform sampler2D light;
#ifdef BLOOM
uniform sampler2D bloom;
uniform float bloom_share;  // share of the bloom that is added
#endif
uniform vec2 size;          // size of the picture, in pixels
uniform vec2 origin;        // lower left corner of the viewport, in pixels
uniform vec3 background;    // background colour, in sRGB
uniform bool over;          // true: blends with the existing pixels instead of the background

flat in float exposure;
out vec4 colour;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy - origin);
    vec4 sum = min(texelFetch(light, pixel, 0), vec4(6e4));  // about the largest half float; infinity has no hue
#ifdef BLOOM
    sum += bloom_share * texture(bloom, (gl_FragCoord.xy - origin) / size);
#endif
    // A shortcut for pixels darker than half a grey level, which are most.
    if (sum.a * exposure < 0.002) {
        colour = over ? vec4(0.0) : vec4(background, 1.0);
        return;
    }
    vec3 hue = sum.rgb / sum.a;
    float lit = sum.a * exposure;
    float dim = 1.0 / (1.0 + 0.5 * lit);
    float shown = 1.0 - dim * dim;
    // Beyond saturation a crowd gets a little paler with each doubling of the light.
    float pale = clamp(log2(max(lit, 1.0)) * 0.13, 0.0, 0.8);
    vec3 shine = mix(hue, vec3(1.0, 0.98, 0.95), pale);
    colour = over ? vec4(shine, shown) : vec4(dithered(mix(background, shine, shown), pixel), 1.0);
}
