// The image of a flow behind its tracers: the plane z = 0 as the camera sees it.

uniform sampler2D field;      // one value per pixel of the image, bottom row first; at most WALL in solid pixels
uniform vec2 field_range;     // values at the two ends of the colours
uniform sampler2D tones;      // colours from the lowest to the highest value, in a row
uniform vec2 half_size;       // half the size of the image, in units of the scene
uniform vec3 eye;
uniform vec3 right;
uniform vec3 up;
uniform vec3 back;
uniform vec2 lens;            // half the picture's width and height at unit distance
uniform vec2 origin;          // lower left corner of the viewport, in pixels
uniform vec2 area;            // size of the viewport, in pixels
uniform vec3 background;      // background colour, in sRGB

out vec4 colour;

const float WALL = -1e29;
const vec3 STONE = vec3(0.33, 0.36, 0.42);
// Edges of walls that face the upper left are brighter, and opposite edges darker, as if walls rose from the plane.
const vec2 LAMP = vec2(-0.6, 0.8);
const float BEVEL = 0.8;

vec3 tone(float value) {
    float span = max(field_range.y - field_range.x, 1e-20);
    float share = clamp((value - field_range.x) / span, 0.0, 1.0);
    // The colours of the lowest and the highest value are at the centres of the first and the last texel.
    float last = float(textureSize(tones, 0).x - 1);
    return texture(tones, vec2((share * last + 0.5) / (last + 1.0), 0.5)).rgb;
}

float texel(ivec2 at) {
    return texelFetch(field, clamp(at, ivec2(0), textureSize(field, 0) - 1), 0).r;
}

// Returns the value at a position in pixels of the image, interpolated between the free pixels around it, and the
// interpolated share of solid pixels.
vec2 value_at(vec2 place) {
    vec2 corner = floor(place - 0.5), part = place - 0.5 - corner;
    float sum = 0.0, free = 0.0, solid = 0.0;
    for (int k = 0; k < 4; ++k) {
        ivec2 step_ = ivec2(k & 1, k >> 1);
        float value = texel(ivec2(corner) + step_);
        vec2 near = mix(1.0 - part, part, vec2(step_));
        float weight = near.x * near.y;
        // The comparison is negated, so that NaN does not count as a wall.
        if (!(value <= WALL)) {
            sum += weight * (isnan(value) || isinf(value) ? field_range.y : value);
            free += weight;
        } else {
            solid += weight;
        }
    }
    return vec2(free > 0.0 ? sum / free : 0.0, solid);
}

// Returns the gradient of the share of solid pixels at a position in pixels of the image, and the share itself. A cubic
// B-spline smooths the share over 4x4 pixels, so that slanted walls do not look like staircases.
vec3 wall_at(vec2 place) {
    vec2 corner = floor(place - 0.5), t = place - 0.5 - corner, u = 1.0 - t;
    vec2 weight[4] = vec2[](u * u * u / 6.0, (4.0 - 3.0 * t * t * (2.0 - t)) / 6.0,
                            (4.0 - 3.0 * u * u * (2.0 - u)) / 6.0, t * t * t / 6.0);
    vec2 slope[4] = vec2[](-0.5 * u * u, 0.5 * t * (3.0 * t - 4.0), -0.5 * u * (3.0 * u - 4.0), 0.5 * t * t);
    vec3 sum = vec3(0.0);
    for (int k = 0; k < 16; ++k) {
        int x = k & 3, y = k >> 2;
        if (texel(ivec2(corner) + ivec2(x - 1, y - 1)) <= WALL)
            sum += vec3(slope[x].x * weight[y].y, weight[x].x * slope[y].y, weight[x].x * weight[y].y);
    }
    return sum;
}

void main() {
    vec2 pixel = gl_FragCoord.xy - origin;
    vec2 at = (2.0 * pixel / area - 1.0) * lens;
    vec3 ray = right * at.x + up * at.y - back;
    float distance = -eye.z / ray.z;
    vec2 place = (eye.xy + distance * ray.xy) / half_size;
    vec2 in_image = (0.5 * place + 0.5) * vec2(textureSize(field, 0));
    // Width of a pixel of the screen, in pixels of the image of the flow. The upper limit keeps the blended edge of a
    // wall within the pixels for which `wall_at` is called.
    float wide = clamp(length(dFdx(in_image)), 1e-6, 1.3);
    vec3 picture = background;
    if (distance > 0.0 && max(abs(place.x), abs(place.y)) <= 1.0) {
        vec2 found = value_at(in_image);
        picture = tone(found.x);
        if (found.y > 0.0) {
            vec3 wall = wall_at(in_image);
            float covered = clamp(0.5 + (wall.z - 0.5) / (wide * length(wall.xy) + 1e-6), 0.0, 1.0);
            // The smoothed share of a single solid pixel is less than one half everywhere.
            covered = max(covered, smoothstep(0.65, 0.85, found.y));
            picture = mix(picture, STONE * (1.0 - BEVEL * dot(wall.xy, LAMP)), covered);
        }
    }
    colour = vec4(dithered(picture, ivec2(pixel)), 1.0);
}
