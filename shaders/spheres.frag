// A ball hit by the ray through the pixel: exact outline, depth, and reflected light.

in vec2 slope;
flat in vec4 ball;  // centre relative to the eye, and radius
flat in vec4 tint;  // colour as light, and opacity

uniform vec3 eye;
uniform vec3 right;
uniform vec3 up;
uniform vec3 back;
uniform float pixel;         // height of a pixel at unit distance
uniform float near;          // distance of the near plane; nothing closer is drawn
uniform bool edges;          // true: draws the soft edges; false: draws the opaque insides
uniform float planet;        // radius of the planet; 0 if there is none
uniform bool is_planet;      // whether the ball is the planet

out vec4 light;

// Direction to the sun: left of, behind and above the initial camera.
const vec3 SUN = vec3(-0.930, -0.240, 0.278);
const vec3 SUNLIGHT = vec3(1.12, 1.08, 1.02);
// Ambient light from above and from below.
const vec3 SKY = vec3(0.115, 0.125, 0.150);
const vec3 GROUND = vec3(0.040, 0.038, 0.042);
// Extra reflection at glancing angles.
const vec3 RIM = vec3(0.10, 0.13, 0.20);

// Returns the share of sunlight that the planet lets through, with a half-shadow as by a sun of finite size.
float sunlit(vec3 place) {
    float behind = -dot(place, SUN);
    float aside = length(place + behind * SUN);
    float soft = 0.03 * planet + 0.05 * max(behind, 0.0);
    return behind > 0.0 ? smoothstep(planet - soft, planet + soft, aside) : 1.0;
}

// Blue-grey bands of latitude.
vec3 banded(float latitude) {
    float band = sin(latitude * 9.0 + 0.5) + 0.5 * sin(latitude * 23.0) + 0.25 * sin(latitude * 51.0 + 2.0);
    return vec3(0.155, 0.195, 0.265) + band * vec3(0.018, 0.016, 0.010);
}

vec3 shaded(vec3 normal, vec3 to_eye, vec3 colour, float sun, float gloss) {
    // A cosine with a smooth end, as if lit by a sun of finite size.
    float cosine = dot(normal, SUN);
    float facing = 0.5 * (cosine + sqrt(cosine * cosine + 0.02)) * sun;
    vec3 lit = SUNLIGHT * facing + mix(GROUND, SKY, normal.z * 0.5 + 0.5);
    float mirrored = max(dot(normal, normalize(SUN + to_eye)), 0.0);
    mirrored *= mirrored;
    mirrored *= mirrored;
    mirrored *= mirrored;
    float shine = mirrored * mirrored * mirrored * mirrored * facing;  // to the power of 32
    float glancing = 1.0 - max(dot(normal, to_eye), 0.0);
    return colour * lit + gloss * (0.2 * shine * SUNLIGHT + glancing * glancing * glancing * RIM);
}

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

    // Distance to the outline in pixels: the gradient of `off` over the picture is nearest * (the part of miss / off that
    // lies in the picture).
    float tilt = dot(miss, back);
    float stretch = miss2 > 0.0 ? sqrt(max(1.0 - tilt * tilt / miss2, 0.01)) : 1.0;
    float covered = clamp(0.5 + (radius - off) / (pixel * nearest * stretch), 0.0, 1.0) * tint.a;

    float depth = nearest - sqrt(max(radius * radius - miss2, 0.0) / length2);
    if (depth < near || covered <= 0.0 || edges == (covered >= 1.0)) {
        discard;
    }
    gl_FragDepth = near / depth;

    vec3 normal = normalize(ray * depth - centre);
    float sun = planet > 0.0 && !is_planet ? sunlit(eye + ray * depth) : 1.0;
    vec3 to_eye = ray * -inversesqrt(length2);
    // The smallest balls get no highlight.
    float gloss = smoothstep(1.5, 6.0, radius / (pixel * nearest));
    light = vec4(shaded(normal, to_eye, is_planet ? banded(normal.z) : tint.rgb, sun, is_planet ? 0.4 : gloss), 1.0) * covered;
}
