// The part of the picture that a ball can cover: a rectangle. A point sprite would be a square with a largest
// size, and would vanish whole once its middle left the picture.

layout(points) in;
layout(triangle_strip, max_vertices = 4) out;

uniform vec3 right;
uniform vec3 up;
uniform vec3 back;
uniform vec2 lens;    // half the picture's extents at unit distance
uniform float pixel;  // a pixel's height at unit distance

in Ball {
    vec3 centre;
    float radius;
    vec3 albedo;
    float opacity;
} ball[];

out vec2 slope;  // of the ray: how far to the right and up for one ahead
flat out vec3 centre;
flat out float radius;
flat out vec3 albedo;
flat out float opacity;

// The slopes of the two tangents from the eye to the ball's circle in the plane of one axis and the view's, and
// a pixel more for the soft edge (Mara, McGuire: 2D Polyhedral Bounds of a Clipped, Perspective-Projected 3D
// Sphere, JCGT 2013).
vec2 bounds(float across, float ahead, float r, float widest) {
    float reach = ahead * ahead - r * r;
    if (ahead <= r * 1.0001) {  // no tangents: the ball reaches beside the eye
        return vec2(-widest, widest);
    }
    float root = r * sqrt(across * across + reach);
    vec2 tangents = (across * ahead + vec2(-root, root)) / reach;
    return clamp(tangents + vec2(-pixel, pixel), -widest, widest);
}

void corner(float x, float y) {
    slope = vec2(x, y);
    centre = ball[0].centre;
    radius = ball[0].radius;
    albedo = ball[0].albedo;
    opacity = ball[0].opacity;
    // Depth comes from the fragments, so no plane cuts the rectangle.
    gl_Position = vec4(slope / lens, 0.0, 1.0);
    EmitVertex();
}

void main() {
    vec3 at = vec3(dot(ball[0].centre, right), dot(ball[0].centre, up), -dot(ball[0].centre, back));
    float r = ball[0].radius;
    // Written so that what is no number is not drawn.
    if (!(r > 0.0 && at.z > -r && dot(at, at) < 1e37)) {
        return;
    }
    vec2 x = bounds(at.x, at.z, r, lens.x);
    vec2 y = bounds(at.y, at.z, r, lens.y);
    if (x.x < x.y && y.x < y.y) {
        corner(x.x, y.x);
        corner(x.y, y.x);
        corner(x.x, y.y);
        corner(x.y, y.y);
    }
}
