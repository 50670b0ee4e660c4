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

vec3 tone(float value) {
    float span = max(field_range.y - field_range.x, 1e-20);
    float share = clamp((value - field_range.x) / span, 0.0, 1.0);
    // The colours of the lowest and the highest value are at the centres of the first and the last texel.
    float last = float(textureSize(tones, 0).x - 1);
    return texture(tones, vec2((share * last + 0.5) / (last + 1.0), 0.5)).rgb;
}

// Returns the value at a position in pixels of the image, interpolated between the free pixels around it, and the
// interpolated share of solid pixels.
vec2 value_at(vec2 place) {
    ivec2 last = textureSize(field, 0) - 1;
    vec2 corner = floor(place - 0.5), part = place - 0.5 - corner;
    float sum = 0.0, free = 0.0;
    for (int k = 0; k < 4; ++k) {
        ivec2 step_ = ivec2(k & 1, k >> 1);
        float value = texelFetch(field, clamp(ivec2(corner) + step_, ivec2(0), last), 0).r;
        vec2 near = mix(1.0 - part, part, vec2(step_));
        float weight = near.x * near.y;
        // The comparison is negated, so that NaN does not count as a wall.
        if (!(value <= WALL)) {
            sum += weight * (isnan(value) || isinf(value) ? field_range.y : value);
            free += weight;
        }
    }
    return vec2(free > 0.0 ? sum / free : 0.0, 1.0 - free);
}

void main() {
    vec2 pixel = gl_FragCoord.xy - origin;
    vec2 at = (2.0 * pixel / area - 1.0) * lens;
    vec3 ray = right * at.x + up * at.y - back;
    float distance = -eye.z / ray.z;
    vec2 place = (eye.xy + distance * ray.xy) / half_size;
    vec3 picture = background;
    if (distance > 0.0 && max(abs(place.x), abs(place.y)) <= 1.0) {
        vec2 found = value_at((0.5 * place + 0.5) * vec2(textureSize(field, 0)));
        picture = mix(tone(found.x), STONE, smoothstep(0.35, 0.65, found.y));
    }
    colour = vec4(dithered(picture, ivec2(pixel)), 1.0);
}
