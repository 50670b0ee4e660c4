// Converts the light of a picture to sRGB (see `shown` in common.glsl).

uniform sampler2D light;
#ifdef BLOOM
uniform sampler2D bloom;
uniform float bloom_share;  // factor for the bloom before it is added
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
    // A shortcut for pixels darker than half a grey level, which most pixels are.
    if (sum.a * exposure < 0.002) {
        colour = over ? vec4(0.0) : vec4(background, 1.0);
        return;
    }
    vec4 seen = shown(sum, exposure);
    colour = over ? seen : vec4(dithered(mix(background, seen.rgb, seen.a), pixel), 1.0);
}
