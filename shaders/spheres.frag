// A ball, hit by the ray through the pixel: its exact outline, its depth, and the light it sends.

in vec2 slope;
flat in vec3 centre;
flat in float radius;
flat in vec3 albedo;
flat in float opacity;

uniform vec3 eye;
uniform vec3 right;
uniform vec3 up;
uniform vec3 back;
uniform float pixel;         // a pixel's height at unit distance
uniform float near;          // what is nearer than this is not shown
uniform bool edges;          // whether the soft edges are drawn, or what they surround
uniform float planet;        // its radius; 0 is none
uniform bool is_planet;      // whether this is it

out vec4 light;

const vec3 SUN = vec3(-0.604, -0.604, 0.520);
const vec3 SUNLIGHT = vec3(1.30, 1.24, 1.14);
const vec3 SKYLIGHT = vec3(0.110, 0.125, 0.160);
const vec3 GROUND = vec3(0.050, 0.046, 0.050);
const vec3 RIM = vec3(0.10, 0.13, 0.20);

// The share of the sun that the planet leaves over, with a half-shadow as a sun of some width throws.
float sunlit(vec3 place) {
    float behind = -dot(place, SUN);
    float aside = length(place + behind * SUN);
    float soft = 0.03 * planet + 0.05 * max(behind, 0.0);
    return behind > 0.0 ? smoothstep(planet - soft, planet + soft, aside) : 1.0;
}

vec3 shaded(vec3 normal, vec3 to_eye, vec3 colour, float sun, float gloss) {
    float facing = max(dot(normal, SUN), 0.0);
    vec3 lit = SUNLIGHT * (sun * facing) + mix(GROUND, SKYLIGHT, normal.z * 0.5 + 0.5);
    float shine = pow(max(dot(normal, normalize(SUN + to_eye)), 0.0), 48.0) * sun * facing;
    float rim = pow(1.0 - max(dot(normal, to_eye), 0.0), 3.0);
    return colour * lit + gloss * (0.22 * shine * SUNLIGHT + rim * RIM);
}

void main() {
    vec3 ray = right * slope.x + up * slope.y - back;  // its length ahead is 1
    float length2 = dot(ray, ray);
    float nearest = dot(ray, centre) / length2;
    // How the ray misses the centre. Differences of squares of distances would lose small balls (Haines et al.,
    // Precision Improvements for Ray/Sphere Intersection, Ray Tracing Gems, 2019).
    vec3 miss = centre - nearest * ray;
    float miss2 = dot(miss, miss);
    float off = sqrt(miss2);

    // From here to the outline in pixels: the gradient of `off` over the picture is nearest * (the part of
    // miss / off that lies in it).
    float tilt = dot(miss, back);
    float stretch = miss2 > 0.0 ? sqrt(max(1.0 - tilt * tilt / miss2, 0.01)) : 1.0;
    float covered = clamp(0.5 + (radius - off) / (pixel * nearest * stretch), 0.0, 1.0) * opacity;

    float depth = nearest - sqrt(max(radius * radius - miss2, 0.0) / length2);
    if (depth < near || covered <= 0.0 || edges == (covered >= 1.0)) {
        discard;
    }
    gl_FragDepth = near / depth;

    vec3 normal = normalize(ray * depth - centre);
    float sun = planet > 0.0 && !is_planet ? sunlit(eye + ray * depth) : 1.0;
    vec3 to_eye = ray * -inversesqrt(length2);
    // On the smallest balls there is no room for a highlight.
    float gloss = smoothstep(1.5, 6.0, radius / (pixel * nearest));
    light = vec4(shaded(normal, to_eye, albedo, sun, gloss), 1.0) * covered;
}
