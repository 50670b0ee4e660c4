// Emits the rectangle of the picture that a ball can cover. A point sprite is not sufficient: it is a square of limited
// size, and it vanishes when its centre leaves the picture.

layout(points) in;
layout(triangle_strip, max_vertices = 4) out;

uniform vec3 right;
uniform vec3 up;
uniform vec3 back;
uniform vec2 lens;    // half the picture's width and height at unit distance
uniform float pixel;  // height of a pixel at unit distance
uniform bool edges;   // true: draws the soft edges; false: draws the opaque insides

in vec4 sphere[];
in vec4 colour[];
in vec4 rock[];

out vec2 slope;  // components of the ray to the right and up; its component along the view is 1
flat out vec4 ball;
flat out vec4 tint;
flat out vec4 grain;

#ifdef PLANET
// Height of the visible atmosphere, divided by the planet's radius; as in spheres.frag.
const float HALO = 0.08;
#endif

// Returns the slope of a tangent from the sine and the cosine of its angle to the view direction, clamped to ±widest
// (the edges of the picture). A tangent that points backwards yields ±widest.
float cut(float sine, float cosine, float widest) {
    return cosine > 0.0 ? clamp(sine / cosine, -widest, widest) : sign(sine) * widest;
}

// Returns the slopes of the two tangents from the eye to the ball's circle in the plane of one axis and the view,
// widened by a pixel for the soft edge (after Mara, McGuire: 2D Polyhedral Bounds of a Clipped, Perspective-Projected
// 3D Sphere, JCGT 2013). The angles of the tangents are the angle of (ahead, across) plus and minus atan(r / reach).
vec2 bounds(float across, float ahead, float r, float widest) {
    float reach2 = across * across + ahead * ahead - r * r;
    if (reach2 <= 0.0) {  // the eye is inside the circle
        return vec2(-widest, widest);
    }
    float reach = sqrt(reach2);
    float low = cut(across * reach - ahead * r, ahead * reach + across * r, widest);
    float high = cut(across * reach + ahead * r, ahead * reach - across * r, widest);
    return clamp(vec2(low - pixel, high + pixel), -widest, widest);
}

#ifdef SORTED
uniform float near;  // distance of the near plane
// All fragments have the depth of their ball, so that hidden ones need not be computed. For balls that do not intersect, the power
// of the eye (its squared distance, less the squared radius) tells which ball hides the other: each lies on its own side of the
// plane of equal power.
float depth_of(vec3 centre, float r) {
    float power = dot(centre, centre) - r * r;
    return 2.0 * min(near * inversesqrt(max(power, near * near)), 1.0) - 1.0;
}
#else
// Fragments write their own depth.
float depth_of(vec3 centre, float r) {
    return 0.0;
}
#endif

void corner(float x, float y, float depth) {
    slope = vec2(x, y);
    ball = sphere[0];
    tint = colour[0];
    grain = rock[0];
    gl_Position = vec4(slope / lens, depth, 1.0);
    EmitVertex();
}

void main() {
    vec3 at = vec3(dot(sphere[0].xyz, right), dot(sphere[0].xyz, up), -dot(sphere[0].xyz, back));
    float r = sphere[0].w;
    float depth = depth_of(at, r);
#ifdef PLANET
    r *= 1.0 + HALO;
#endif
    // All comparisons are false for NaN, so that such a ball is not drawn. A transparent ball is drawn with the edges.
    bool shown = r > 0.0 && at.z > -r && dot(at, at) < 1e37 && (edges || colour[0].a == 1.0);
    if (!shown) {
        return;
    }
    vec2 x = bounds(at.x, at.z, r, lens.x);
    vec2 y = bounds(at.y, at.z, r, lens.y);
    if (x.x < x.y && y.x < y.y) {
        corner(x.x, y.x, depth);
        corner(x.y, y.x, depth);
        corner(x.x, y.y, depth);
        corner(x.y, y.y, depth);
    }
}
