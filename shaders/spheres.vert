// One ball: its position relative to the eye, its drawn radius, and its colour.

in vec4 body;    // x, y, z, radius
in float value;  // quantity that the colour shows

uniform vec3 eye;
uniform vec3 back;          // unit vector from the target to the eye
uniform float pixel;        // height of a pixel at unit distance
uniform float distance;     // distance from the eye to the camera's target
uniform float depth_cue;    // how fast light fades beyond the target: the exponent of the distance
uniform float flash;        // brightness of the strongest flash
uniform float least_radius; // smallest radius of a drawn ball, in pixels

out vec4 sphere;  // centre relative to the eye, and radius; a radius of 0 is not drawn
out vec4 colour;  // colour as light, and opacity
out vec4 rock;    // three random numbers from 0 to 1, which belong to the body, and the brightness of its flash

// Returns four random numbers from the index of a body (PCG: Jarzynski and Olano, JCGT 9, 3, 2020).
vec4 random(uint index) {
    uvec4 v = uvec4(index, index + 1u, index + 2u, index + 3u) * 1664525u + 1013904223u;
    v += v.yzxy * v.wxyz;
    v ^= v >> 16u;
    v += v.yzxy * v.wxyz;
    return vec4(v >> 8u) / 16777216.0;
}

void main() {
    vec3 centre = body.xyz - eye;
    // A ball smaller than a pixel is drawn larger and more transparent in proportion, but never so transparent that it
    // becomes invisible.
    float least = least_radius * pixel * -dot(centre, back);
    float radius = body.w > 0.0 ? max(body.w, least) : 0.0;
    // The opacity must be exactly 1, because only opaque balls hide others. On some GPUs, x / x is not exactly 1.
    float shrink = body.w < radius ? body.w / radius : 1.0;
    sphere = vec4(centre, radius);
    float cue = pow(clamp(distance / max(-dot(centre, back), 1e-6 * distance), 1e-3, 1.0), depth_cue);
    // The last bits of the radius hold the brightness of the flash.
    vec4 own = random(uint(gl_VertexID));
    rock = vec4(own.xyz, flash * float(floatBitsToUint(body.w) & 15u) / 15.0);
    // Random brightness of the rock's surface; the colour shows the body's value.
    float albedo = 0.65 + 0.6 * own.w;
    colour = vec4(light_of(hue_of(value)) * (cue * albedo), max(shrink * shrink, 0.2));
}
