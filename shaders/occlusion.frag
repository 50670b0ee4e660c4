// Ambient occlusion: darkens places between balls, where little ambient light arrives. Compares the depth of each
// pixel with the depths of pixels around it (after Mittring, Finding Next Gen: CryEngine 2, SIGGRAPH 2007).

uniform sampler2D depths;  // distance of the near plane divided by the distance of each pixel; 0 for the background
uniform float near;        // distance of the near plane
uniform float pixel;       // height of a pixel at unit distance
uniform float reach;       // distance, in units of the scene, within which balls shade each other

out vec4 kept;  // share of the light that is kept

const int PAIRS = 24;
// Largest distance between a pixel and the pixels that it is compared with, as a fraction of the picture's height.
const float WIDEST = 0.06;
const float STRENGTH = 2.0;
const float DARKEST = 0.25;

// Returns how much nearer to the eye than `away` the ball at the pixel `at` is, in units of `reach` and at least -1. Returns 0 for
// a much nearer ball, which does not shade its background.
float rise(ivec2 at, float away) {
    float there = texelFetch(depths, clamp(at, ivec2(0), textureSize(depths, 0) - 1), 0).r;
    float nearer = there > 0.0 ? (away - near / there) / reach : -1.0;
    return max(nearer, -1.0) * (1.0 - smoothstep(1.0, 3.0, nearer));
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    float own = texelFetch(depths, at, 0).r;
    kept = vec4(1.0);
    float away = near / max(own, 1e-30);
    float wide = min(reach / (pixel * away), WIDEST * float(textureSize(depths, 0).y));
    if (own <= 0.0 || wide < 1.0)
        return;
    // Rotates the pattern of pixels by a different angle at each pixel, so that the pattern is not visible.
    float turn = 3.1415927 * fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    float closed = 0.0;
    for (int k = 0; k < PAIRS; ++k) {
        // Samples on a sunflower spiral cover the disc evenly. Opposite samples cancel on a slope, which stays bright.
        float angle = turn + 2.3999632 * float(k);
        ivec2 to = ivec2(round(sqrt((float(k) + 0.5) / float(PAIRS)) * wide * vec2(cos(angle), sin(angle))));
        closed += clamp(0.5 * (rise(at + to, away) + rise(at - to, away)), 0.0, 1.0);
    }
    kept.rgb = vec3(max(1.0 - STRENGTH * closed / float(PAIRS), DARKEST));
}
