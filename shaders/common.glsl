// Definitions for every shader. The program puts this file in front of each shader.

uniform vec2 value_range;   // values at the two ends of the colour map
uniform sampler2D palette;  // 256 sRGB colours in a row

// Bodies whose value is not known yet are grey and faint, so that the other bodies stand out.
const float KNOWN_BELOW = 3e38;
const vec3 GREY = vec3(0.5, 0.52, 0.56);
float light_share(float value) {
    return value >= KNOWN_BELOW ? 0.03 : 1.0;
}

// Values of at least LOWEST_COLOUR encode a colour: 2^103 * (2^23 + c/2), where c is the colour as the number 0xRRGGBB.
const float LOWEST_COLOUR = 8.50705917e37;
const float COLOUR_UNIT = 9.86076132e-32;  // 2^-103

// Returns the sRGB colour of a body's value.
vec3 hue_of(float value) {
    if (value >= KNOWN_BELOW)
        return GREY;
    if (value >= LOWEST_COLOUR) {
        int code = (int(value * COLOUR_UNIT) - (1 << 23)) << 1;
        return vec3((code >> 16) & 255, (code >> 8) & 255, code & 255) / 255.0;
    }
    float share = (value - value_range.x) / (value_range.y - value_range.x);
    // The comparison maps NaN to the lowest colour; as a texel index NaN would be undefined.
    share = share > 0.0 ? min(share, 1.0) : 0.0;
    return texelFetch(palette, ivec2(share * 255.0 + 0.5, 0), 0).rgb;
}

// Conversions from sRGB to light (IEC 61966-2-1) and back. The conversion back uses roots, accurate to a grey level,
// because powers are many times as slow on a software renderer (Taylor, sRGB Approximations for HLSL, 2012).
vec3 light_of(vec3 srgb) {
    return mix(srgb / 12.92, pow((srgb + 0.055) / 1.055, vec3(2.4)), step(0.04045, srgb));
}
vec3 srgb_of(vec3 light) {
    vec3 root = sqrt(light);
    vec3 root4 = sqrt(root);
    vec3 bright = 0.662002687 * root + 0.684122060 * root4 - 0.323583601 * sqrt(root4) - 0.0225411470 * light;
    return mix(light * 12.92, bright, step(0.0031308, light));
}

// Adds noise of half a grey level, which hides the steps of dim gradients (interleaved gradient noise: Jimenez, Next
// Generation Post Processing in Call of Duty, SIGGRAPH 2014).
vec3 dithered(vec3 srgb, ivec2 pixel) {
    float noise = fract(52.9829189 * fract(dot(vec2(pixel), vec2(0.06711056, 0.00583715))));
    return srgb + (noise - 0.5) / 255.0;
}

// In a software renderer, a single point outside the picture makes all points of a draw call pass through a clipper one
// by one. For a software renderer, such points are therefore placed inside the picture: at a corner, small and dark.
#ifdef SOFTWARE
const bool STAYS_INSIDE = true;
const vec4 UNSEEN = vec4(-1.0, -1.0, 0.0, 1.0);
#else
const bool STAYS_INSIDE = false;
const vec4 UNSEEN = vec4(2.0, 2.0, 2.0, 1.0);
#endif
// Returns whether a clip-space position is outside the picture. NaN counts as outside.
bool is_outside(vec4 position) {
    return !all(lessThanEqual(abs(position.xyz), position.www));
}
// Makes a point invisible: sets its position, size and light.
void unsee(out vec4 position, out float size, out vec4 tint) {
    position = UNSEEN;
    size = 1.0;
    tint = vec4(0.0);
}

// Light level at which the automatic exposure is 1, strength of the exposure's adaptation, and limits of the exposure.
const float USUAL_LIGHT = 1.1;
const float EYE_REACH = 0.55;
const vec2 EYE_LIMITS = vec2(0.2, 4.0);
// Returns the exposure: the factor for the light of a picture. `measured` is a single pixel: the sum of weighted
// logarithms of the light, and the sum of the weights. `stops` is the user's correction, as a power of two.
float exposure_of(sampler2D measured, bool automatic, float stops) {
    float exposure = exp2(stops);
    if (automatic) {
        vec2 sums = texelFetch(measured, ivec2(0), 0).rg;
        float key = sums.g > 0.0 ? exp(sums.r / sums.g) : USUAL_LIGHT;
        exposure *= clamp(pow(USUAL_LIGHT / key, EYE_REACH), EYE_LIMITS.x, EYE_LIMITS.y);
    }
    return exposure;
}

// Returns the opacity of a light in front of the background, from 0 to 1. Most of the opacity saturates at a light of about 10.
// The rest grows with the logarithm of the light, so that dense, bright regions keep visible structure.
float coverage(float lit) {
    float dim = 1.0 / (1.0 + 0.65 * lit);
    float doublings = min(log2(1.0 + lit) * 0.085, 1.0);
    return (1.0 - dim * dim) * (0.76 + 0.24 * doublings);
}

// Returns the sRGB colour of the sum of light in a pixel and, as alpha, its coverage. The hue is the mean hue of the
// light and only the brightness saturates, so that crowds of bodies keep their colour instead of turning white.
vec4 shown(vec4 light, float exposure) {
    float lit = light.a * exposure;
    float doublings = log2(max(lit, 1.0));
    // Beyond saturation, a crowd of bodies gets paler with each doubling of the light.
    float pale = clamp(doublings * 0.09 + max(doublings - 2.0, 0.0) * 0.03, 0.0, 0.82);
    // The mean of many hues is greyish. The brighter a crowd of bodies, the more its saturation is increased (luma:
    // BT.601).
    vec3 hue = light.rgb / light.a;
    float grey = dot(hue, vec3(0.299, 0.587, 0.114));
    hue = clamp(mix(vec3(grey), hue, 1.0 + 0.25 * min(doublings, 4.0)), 0.0, 1.0);
    return vec4(mix(hue, vec3(1.0, 0.98, 0.95), pale), coverage(lit));
}

// Returns the sRGB colour that a single sprite adds to a picture.
vec4 laid_over(vec4 light) {
    float lit = max(light.a, 1e-9);
    return vec4(light.rgb * (coverage(lit) / lit), 0.0);
}
