// Computes where the ray through a pixel hits a ball: exact outline, depth and reflected light. The ball is a rock or
// the planet.

in vec2 slope;
flat in vec4 ball;   // centre relative to the eye, and radius
flat in vec4 tint;   // colour as light, and opacity
flat in vec4 grain;  // three random numbers from 0 to 1, which belong to the body, and the brightness of its flash

uniform vec3 eye;
uniform vec3 right;
uniform vec3 up;
uniform vec3 back;
uniform float pixel;         // height of a pixel at unit distance
uniform float near;          // distance of the near plane; nothing closer is drawn
uniform bool edges;          // true: draws the soft edges; false: draws the opaque insides
uniform float planet;        // radius of the planet at the origin; 0 if there is none
uniform sampler2D rings;     // optical depth of bodies in rings across the plane z = 0, from the planet to REACH

out vec4 light;

// Direction to the sun: left of, behind and above the initial camera.
const vec3 SUN = vec3(-0.930, -0.240, 0.278);
const vec3 SUNLIGHT = vec3(1.30, 1.24, 1.14);
// Ambient light from above and from below.
const vec3 SKY = vec3(0.075, 0.085, 0.110);
const vec3 GROUND = vec3(0.022, 0.021, 0.026);

// Returns the share of sunlight that a surface receives: a cosine with a smooth end, as if the sun had a finite size.
float facing(vec3 normal) {
    float cosine = dot(normal, SUN);
    return 0.5 * (cosine + sqrt(cosine * cosine + 0.02));
}

vec3 ambient(vec3 normal) {
    return mix(GROUND, SKY, normal.z * 0.5 + 0.5);
}

#ifdef PLANET
// Radius to which `rings` reaches, in radii of the planet; as in spheres.rs.
const float REACH = 4.0;
// Height of the visible atmosphere, divided by the planet's radius, and the height at which it thins out to 1/e.
const float HALO = 0.08;
const float THIN = 0.015;
const vec3 AIR = vec3(0.22, 0.42, 0.95);

// Returns the share of sunlight that the bodies between the sun and a place on the planet let through.
float through_rings(vec3 place) {
    float way = -place.z / SUN.z;
    float share = (length(place.xy + way * SUN.xy) / planet - 1.0) / (REACH - 1.0);
    float depth = way > 0.0 && share < 1.0 ? textureLod(rings, vec2(share, 0.5), 0.0).r : 0.0;
    return exp(-depth / SUN.z);
}

// Returns the colour of the planet's surface: bands of latitude with wavy edges, from ochre to cream, and greyish blue
// towards the poles.
vec3 banded(vec3 normal) {
    float wave = sin(5.0 * normal.x + 3.0 * normal.y) * sin(4.0 * normal.y - 2.0 * normal.x + 1.0);
    float latitude = normal.z + 0.012 * wave + 0.004 * sin(19.0 * normal.x + 11.0 * normal.y + 30.0 * normal.z);
    float band = sin(11.0 * latitude + 0.5) + 0.6 * sin(24.0 * latitude + 1.0) + 0.4 * sin(55.0 * latitude + 2.0);
    vec3 tone = mix(vec3(0.34, 0.20, 0.11), vec3(0.80, 0.66, 0.46), clamp(0.55 + 0.26 * band, 0.0, 1.0));
    return mix(tone, vec3(0.26, 0.31, 0.38), smoothstep(0.62, 0.98, abs(latitude)));
}

vec3 shaded(vec3 normal, vec3 to_eye, vec3 place, float size) {
    float sun = facing(normal);
    float glancing = 1.0 - max(dot(normal, to_eye), 0.0);
    vec3 lit = SUNLIGHT * (sun * through_rings(place)) + ambient(normal);
    return banded(normal) * lit + AIR * (sun * glancing * glancing * glancing);
}
#else
// Returns the share of sunlight that the planet does not block, with a penumbra as if the sun had a finite size.
float past_planet(vec3 place) {
    float behind = -dot(place, SUN);
    float aside = length(place + behind * SUN);
    float soft = 0.03 * planet + 0.05 * max(behind, 0.0);
    return planet > 0.0 && behind > 0.0 ? smoothstep(planet - soft, planet + soft, aside) : 1.0;
}

// Colour of the light that a body emits shortly after a collision.
const vec3 FLASH = vec3(1.05, 0.66, 0.30);

// Returns the light of a rock. Three waves of random directions and phases tilt its surface. `size` is its radius in
// pixels. The smallest rocks have no waves, because these would flicker.
vec3 shaded(vec3 normal, vec3 to_eye, vec3 place, float size) {
    vec3 along = 2.6 + 2.6 * grain.xyz;
    vec3 a = along * vec3(1.0, -0.7, 0.5), b = along.zxy * vec3(0.6, 1.1, -0.9), c = along.yzx * vec3(-1.3, 0.9, 1.4);
    vec3 phase = vec3(dot(a, normal), dot(b, normal), dot(c, normal)) + 20.0 * grain.yzx;
    vec3 slopes = cos(phase);
    vec3 tilt = a * slopes.x + b * slopes.y + 0.7 * c * slopes.z;
    float rough = 0.06 * smoothstep(1.5, 5.0, size);
    vec3 bumpy = normalize(normal - rough * (tilt - normal * dot(tilt, normal)));
    float patches = 1.0 + 2.0 * rough * (slopes.x * slopes.y + slopes.z);
    vec3 lit = SUNLIGHT * (facing(bumpy) * past_planet(place)) + ambient(bumpy);
    float glow = grain.w * (0.25 + 0.75 * max(dot(bumpy, to_eye), 0.0));
    return tint.rgb * patches * lit + FLASH * glow;
}
#endif

void main() {
    vec3 centre = ball.xyz;
    float radius = ball.w;
    vec3 ray = right * slope.x + up * slope.y - back;  // its component along the view is 1
    float length2 = dot(ray, ray);
    float nearest = dot(ray, centre) / length2;
    // Vector from the ray to the ball's centre. Differences of squared distances would lose small balls (Haines et
    // al., Precision Improvements for Ray/Sphere Intersection, Ray Tracing Gems, 2019).
    vec3 miss = centre - nearest * ray;
    float miss2 = dot(miss, miss);
    float off = sqrt(miss2);

    // Share of the pixel that the ball covers, from the distance to the outline in pixels. The gradient of `off` over
    // the picture is nearest * (the part of miss / off that lies in the picture).
    float tilt = dot(miss, back);
    float stretch = miss2 > 0.0 ? sqrt(max(1.0 - tilt * tilt / miss2, 0.01)) : 1.0;
    float covered = clamp(0.5 + (radius - off) / (pixel * nearest * stretch), 0.0, 1.0) * tint.a;
#ifdef PLANET
    // The atmosphere reaches beyond the outline.
    bool is_seen = off < radius * (1.0 + HALO);
#else
    bool is_seen = covered > 0.0;
#endif

    float depth = nearest - sqrt(max(radius * radius - miss2, 0.0) / length2);
    if (depth < near || !is_seen || edges == (covered >= 1.0)) {
        discard;
    }
#ifndef SORTED
    gl_FragDepth = near / depth;
#endif

    vec3 normal = normalize(ray * depth - centre);
    vec3 to_eye = ray * -inversesqrt(length2);
    light = vec4(shaded(normal, to_eye, eye + ray * depth, radius / (pixel * nearest)), 1.0) * covered;
#ifdef PLANET
    float air = exp(-max(off - radius, 0.0) / (THIN * radius)) * (1.0 - covered);
    light.rgb += AIR * (0.8 * facing(normal) * air);
#endif
}
