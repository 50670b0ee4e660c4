// The force between two bodies, and how a step ends. Shared by every variant, so that a variant differs from
// its neighbours only in how the sum over j runs.

// m·s(r) of the softening in force, from the squared distance. The mass comes before the third power: s³ alone is
// below the least float from a distance of 4e12 on, where a large mass still pulls. Within FINITE_LIMIT m·s and s² are
// normal floats, so the result is right to rounding wherever it is a normal float itself. Where it is not, a fall takes
// more than 1e19 units of time.
float fade(float m, float r2, float eps2)
{
#ifdef SOFTENING_CLAMP
    float s = reciprocal_root(fmax(r2, eps2));
#else
    float s = reciprocal_root(r2 + eps2);
#endif
    return (m * s) * (s * s);
}

// Adds the pull of `other` (x, y, z, m) on a body at `own`, without G. A body does not pull itself: its
// distance is zero.
float3 attract(float3 sum, float3 own, float4 other, float eps2)
{
    float3 d = other.xyz - own;
    return sum + d * fade(other.w, dot(d, d), eps2);
}

// What a step makes of the acceleration a, for all three integrators (see Step in modes/gravity/step.rs):
//   v ← (v + closing·a)·damp; v ← v + opening·a; x ← x + drift·v + drift2·a; v ← v·loss
// with c = (closing, damp, opening, drift, drift2, loss, flat, G). Explicit fma: whether two steps are queued
// as one burst or two does not change a bit of the result.
#define COEFFICIENTS float8

float3 gravity(float3 sum, COEFFICIENTS c)
{
    return sum * c.s7;
}

// A unit of length, 2^20, for sums that leave the mass out: with distances in it the third power s³ is a normal float
// from the least softening, 1e-5, up to the largest distance within FINITE_LIMIT, and it costs nothing for a pair.
// Powers of two change no digit.
#define UNIT 0x1p-20f
// A sum over distances in that unit, in units of the length again.
#define UNIT_SUM (UNIT * UNIT)

void finish_step(float3 a, float4 x, float4 v, COEFFICIENTS c, __global float4 *x_out, __global float4 *v_out)
{
    float3 moved = fma(a, (float3)(c.s0), v.xyz) * c.s1;
    moved = fma(a, (float3)(c.s2), moved);
    float3 place = fma(moved, (float3)(c.s3), x.xyz);
    place = fma(a, (float3)(c.s4), place);
    moved *= c.s5;
    if (c.s6 != 0.0f) {
        place.z = 0.0f;
        moved.z = 0.0f;
    }
    // Quarantine: a body that stops being finite keeps its last place, pulls no one (mass 0), and carries a
    // NaN velocity as its mark, which also makes it end up here in every later step. The group that it came from,
    // v.w, stays.
    if (all_finite(place) && all_finite(moved)) {
        *x_out = (float4)(place, x.w);
        *v_out = (float4)(moved, v.w);
    } else {
        *x_out = (float4)(x.xyz, 0.0f);
        *v_out = (float4)((float3)(NAN), v.w);
    }
}
