// The part of the picture that a ball can cover: a rectangle. A point sprite would be a square with a largest
// size, and would vanish whole once its middle left the picture.

layout(points) in;
layout(triangle_strip, max_vertices = 4) out;

uniform vec3 right;
uniform vec3 up;
uniform vec3 back;
uniform vec2 lens;    // half the picture's extents at unit distance
uniform float pixel;  // a pixel's height at unit distance
uniform bool edges;   // whether only soft edges are drawn, or all else

in vec4 sphere[];
in vec4 colour[];

out vec2 slope;  // of the ray: how far to the right and up for one ahead
flat out vec4 ball;
flat out vec4 tint;

// Where a tangent cuts the picture, from the sine and the cosine of its angle to the view; at an end of the
// picture where it points backwards.
float cut(float sine, float cosine, float widest) {
    return cosine > 0.0 ? clamp(sine / cosine, -widest, widest) : sign(sine) * widest;
}

// The slopes of the two tangents from the eye to the ball's circle in the plane of one axis and the view's, and
// a pixel more for the soft edge (after Mara, McGuire: 2D Polyhedral Bounds of a Clipped, Perspective-Projected
// 3D Sphere, JCGT 2013). They stand at the angle of (ahead, across), less and more one whose sine is as r and
// whose cosine is as `reach`.
vec2 bounds(float across, float ahead, float r, float widest) {
    float reach2 = across * across + ahead * ahead - r * r;
    if (reach2 <= 0.0) {  // the circle is about the eye
        return vec2(-widest, widest);
    }
    float reach = sqrt(reach2);
    float low = cut(across * reach - ahead * r, ahead * reach + across * r, widest);
    float high = cut(across * reach + ahead * r, ahead * reach - across * r, widest);
    return clamp(vec2(low - pixel, high + pixel), -widest, widest);
}

void corner(float x, float y) {
    slope = vec2(x, y);
    ball = sphere[0];
    tint = colour[0];
    // Depth comes from the fragments, so no plane cuts this.
    gl_Position = vec4(slope / lens, 0.0, 1.0);
    EmitVertex();
}

void main() {
    vec3 at = vec3(dot(sphere[0].xyz, right), dot(sphere[0].xyz, up), -dot(sphere[0].xyz, back));
    float r = sphere[0].w;
    // Written so that what is no number is not drawn. A ball that is not opaque is nothing but edge.
    bool shown = r > 0.0 && at.z > -r && dot(at, at) < 1e37 && (edges || colour[0].a == 1.0);
    if (!shown) {
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
