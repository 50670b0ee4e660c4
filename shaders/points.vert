// One body: position, size, light and colour of its sprite.

in vec4 body;    // x, y, z, mass
in float value;  // quantity that the colour shows

uniform mat4 view_projection;
uniform float mass_scale;   // 1 / typical mass; 0 if no body has mass
uniform float size;         // diameter of a typical body at the target, in pixels
uniform float distance;     // distance from the eye to the camera's target
uniform vec2 size_limits;   // smallest and largest diameter, in pixels
uniform float size_unit;    // height of the picture, divided by the reference height
uniform float light;        // light of a typical body at the centre of its sprite
uniform uint stride;        // difference between the indices of two consecutive bodies in the vertex buffer
uniform bool varied;        // whether the light and size of bodies of equal mass vary
uniform float depth_cue;    // how fast light fades beyond the target: the exponent of the distance

#ifdef DIRECT
uniform sampler2D measured;
uniform bool automatic;
uniform float stops;
#endif
flat out vec4 tint;
flat out float glow;

// Returns a factor for the light of a body, with a mean of 1. Like stars, most bodies are faint; a few are very bright.
float variation(uint body) {
    uint hash = body * 0x9e3779b9u;
    hash = (hash ^ (hash >> 16)) * 0x85ebca6bu;
    float chance = float((hash ^ (hash >> 13)) & 0xffffu) / 65535.0;
    float power4 = chance * chance * chance * chance;
    float power16 = power4 * power4 * power4 * power4;
    return 0.35 + 1.5 * power4 + 12.0 * power16 * power16 * chance;
}

void main() {
    gl_Position = view_projection * vec4(body.xyz, 1.0);

    // The radius of a ball of constant density is proportional to the cube root of its mass.
    // Beyond four times the typical radius, sprites grow slowly: a star stays larger than its planets.
    float girth = mass_scale > 0.0 ? max(pow(max(body.w, 0.0) * mass_scale, 1.0 / 3.0), 0.5) : 1.0;
    girth = girth > 4.0 ? 4.0 + 0.32 * log2(min(girth, 1e9) / 4.0) : girth;

    // A bright body gets a larger sprite, and a faint body a fainter sprite.
    float brightness = varied ? variation(uint(gl_VertexID) * stride) : 1.0;
    girth *= sqrt(max(brightness, 1.0));
    float wanted = size * girth * distance / max(gl_Position.w, 1e-3 * distance);
    gl_PointSize = clamp(wanted, size_limits.x, size_limits.y);

    // Large sprites are stars with a halo; small sprites are plain dots.
    glow = smoothstep(4.0, 24.0, gl_PointSize / size_unit);

    // A sprite enlarged to the smallest size keeps the light of its true size: far bodies fade instead of vanishing.
    float shrink = clamp(wanted / gl_PointSize, 0.1, 1.0);
    float cue = pow(clamp(distance / max(gl_Position.w, 1e-6 * distance), 1e-3, 1.0), depth_cue);
    tint = vec4(hue_of(value), 1.0) * (light * light_share(value) * shrink * shrink * cue * min(brightness, 1.0));

#ifdef DIRECT
    tint *= exposure_of(measured, automatic, stops);
#endif

    if (STAYS_INSIDE && is_outside(gl_Position)) {
        unsee(gl_Position, gl_PointSize, tint);
    }
}
