// Inverts the lightness of a picture and keeps its hues: the sum of the largest and the smallest channel becomes 2
// minus that sum.

uniform sampler2D dark;

out vec4 colour;

void main() {
    vec3 seen = texelFetch(dark, ivec2(gl_FragCoord.xy), 0).rgb;
    float most = max(seen.r, max(seen.g, seen.b)), least = min(seen.r, min(seen.g, seen.b));
    colour = vec4(seen + 1.0 - most - least, 1.0);
}
