// Draws a grid in the plane z = 0, with every tenth line heavier, and the axes.

uniform sampler2D light;  // the drawn bodies; alpha: brightness, or covered share of the pixel
uniform vec3 eye;
uniform vec3 right;
uniform vec3 up;
uniform vec3 back;
uniform vec2 lens;        // half the picture's width and height at unit distance
uniform vec2 origin;      // lower left corner of the viewport, in pixels
uniform vec2 area;        // size of the viewport, in pixels
uniform float spacing;    // distance between the fine lines, in scene units
uniform float reach;      // distance beyond which lines fade, in scene units
uniform vec4 upright;     // two points of the z axis, in pixels from the lower left corner

out vec4 colour;

const vec3 LINES = vec3(0.55, 0.63, 0.75);
const vec3 X = vec3(0.93, 0.38, 0.36);
const vec3 Y = vec3(0.45, 0.80, 0.40);
const vec3 Z = vec3(0.40, 0.60, 0.98);

// Returns the share of a pixel that lines of each direction cover. `every` is their spacing, `width` the pixel's width.
vec2 lines(vec2 place, vec2 width, float every) {
    vec2 off = abs(fract(place / every - 0.5) - 0.5) * every;
    // Lines closer than a few pixels merge into grey and then fade.
    vec2 crowded = clamp(1.5 - 4.0 * width / every, 0.0, 1.0);
    return clamp(1.0 - off / width, 0.0, 1.0) * crowded;
}

void add(inout vec4 sum, vec3 hue, float share) {
    sum = mix(sum, vec4(hue, 1.0), share);
}

void main() {
    vec2 pixel = gl_FragCoord.xy - origin;
    vec2 at = (2.0 * pixel / area - 1.0) * lens;
    vec3 ray = right * at.x + up * at.y - back;
    float far = -eye.z / ray.z;
    vec2 place = eye.xy + far * ray.xy;
    // Change of the position in the plane from one pixel to the next, horizontally and vertically.
    vec2 step_x = 2.0 * lens.x / area.x * far * (right.xy - ray.xy * right.z / ray.z);
    vec2 step_y = 2.0 * lens.y / area.y * far * (up.xy - ray.xy * up.z / ray.z);
    vec2 width = max(sqrt(step_x * step_x + step_y * step_y), vec2(1e-20));
    vec4 sum = vec4(LINES, 0.0);
    if (far > 0.0) {
        float fade = clamp(1.5 - length(place - eye.xy) / reach, 0.0, 1.0);
        vec2 fine = lines(place, width, spacing), heavy = lines(place, width, 10.0 * spacing);
        sum.a = fade * max(0.13 * max(fine.x, fine.y), 0.28 * max(heavy.x, heavy.y));
        vec2 axis = fade * clamp(1.5 - abs(place) / width, 0.0, 1.0);
        add(sum, X, 0.75 * axis.y);
        add(sum, Y, 0.75 * axis.x);
    }
    vec2 whole = upright.zw - upright.xy;
    float along = dot(pixel - upright.xy, whole) / max(dot(whole, whole), 1e-6);
    float off = distance(pixel, upright.xy + clamp(along, 0.0, 1.0) * whole);
    add(sum, Z, 0.75 * clamp(1.5 - off, 0.0, 1.0));
    float cover = min(texelFetch(light, ivec2(pixel), 0).a, 1.0);
    colour = vec4(sum.rgb, sum.a * (1.0 - 0.8 * cover));
}
