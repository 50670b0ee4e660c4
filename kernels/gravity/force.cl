// The force between two bodies, and the completion of a step. All variants share this file; they differ only in how
// they sum the forces.

// Returns m/r³ with the selected softening, where r2 is the squared distance. With s = 1/r, computes (m·s)·s², because
// s³ alone falls below the smallest normal float beyond a distance of 4e12, where a large mass still has an effect.
// Within FINITE_LIMIT, m·s and s² are normal floats, so the result is accurate wherever it is a normal float itself.
// Results below the smallest normal float have no effect: a free fall with them takes more than 1e19 units of time.
float fade(float m, float r2, float eps2)
{
#ifdef SOFTENING_CLAMP
    float s = reciprocal_root(fmax(r2, eps2));
#else
    float s = reciprocal_root(r2 + eps2);
#endif
    return (m * s) * (s * s);
}

// Returns `sum` plus the acceleration of a body at `own` due to the body `other` (x, y, z, m), without the factor G. A
// body does not accelerate itself, because its distance from itself is zero.
float3 attract(float3 sum, float3 own, float4 other, float eps2)
{
    float3 d = other.xyz - own;
    return sum + d * fade(other.w, dot(d, d), eps2);
}

// Coefficients c = (closing, damp, opening, drift, drift2, loss, flat, G) of the update of a body with the acceleration
// a, for all integrators (`Step` in src/modes/gravity/step.rs):
//   v ← (v + closing·a)·damp; v ← v + opening·a; x ← x + drift·v + drift2·a; v ← v·loss
// The update uses explicit fma, so that dividing the steps into bursts differently does not change a bit of the result.
#define COEFFICIENTS float8

float3 gravity(float3 sum, COEFFICIENTS c)
{
    return sum * c.s7;
}

// Factor that converts distances to multiples of 2^20 units of length, for sums that leave out the mass. With such
// distances, 1/r³ is a normal float from the least softening length, 1e-5, up to the largest distance within
// FINITE_LIMIT. The conversion costs nothing per pair and is exact, because the factor is a power of two.
#define UNIT 0x1p-20f
// Factor that converts a sum of d/r³ over distances in UNIT back to units of length.
#define UNIT_SUM (UNIT * UNIT)

#ifdef COMPENSATED
// Positions and velocities take two floats per coordinate: the high part is the rounded number, which other code reads,
// and the low part is the rounding error. The high parts are in the same places as without COMPENSATED. In v, the n
// velocities are followed by the low parts of n positions and then of n velocities. (Kahan 1965, CACM 8, 40; Dekker
// 1971, Numer. Math. 18, 224.)

// Returns a + b and its rounding error (Knuth, The Art of Computer Programming 2, 4.2.2).
float2 two_sum(float a, float b)
{
    const float s = a + b;
    const float t = s - a;
    return (float2)(s, (a - (s - t)) + (b - t));
}

// Returns a·h for a number stored in two floats. The result is normalized, as after every sum: the pass that ends a
// burst adds 0 to it, which must not change its bits.
float2 scaled(float2 a, float h)
{
    const float p = product(a.x, h);
    return two_sum(p, fma(a.y, h, fma(a.x, h, -p)));
}

// Returns a + b for numbers stored in two floats.
float2 plus(float2 a, float2 b)
{
    const float2 s = two_sum(a.x, b.x);
    return two_sum(s.x, s.y + (a.y + b.y));
}

// Advances one coordinate by a step. `s` is (position, its low part, velocity, its low part), and `along` is the
// acceleration along the coordinate.
float4 advanced(float4 s, float along, COEFFICIENTS c)
{
    const float2 a = (float2)(along, 0.0f);
    float2 v = scaled(plus(s.hi, scaled(a, c.s0)), c.s1);
    v = plus(v, scaled(a, c.s2));
    const float2 x = plus(plus(s.lo, scaled(v, c.s3)), scaled(a, c.s4));
    return (float4)(x, scaled(v, c.s5));
}
#endif

// Advances body i of n, which has the acceleration a, with the coefficients c.
void finish_step(float3 a, uint i, uint n, COEFFICIENTS c, __global const float4 *x_in, __global float4 *x_out,
                 __global float4 *v)
{
    const float4 x_old = x_in[i], v_old = v[i];
#ifdef COMPENSATED
    const float4 x_low = v[n + i], v_low = v[2 * n + i];
    const float4 sx = advanced((float4)(x_old.x, x_low.x, v_old.x, v_low.x), a.x, c);
    const float4 sy = advanced((float4)(x_old.y, x_low.y, v_old.y, v_low.y), a.y, c);
    const float4 sz = c.s6 != 0.0f ? (float4)(0.0f)
                                   : advanced((float4)(x_old.z, x_low.z, v_old.z, v_low.z), a.z, c);
    const float3 place = (float3)(sx.x, sy.x, sz.x), moved = (float3)(sx.z, sy.z, sz.z);
    const float3 place_low = (float3)(sx.y, sy.y, sz.y), moved_low = (float3)(sx.w, sy.w, sz.w);
#else
    float3 moved = fma(a, (float3)(c.s0), v_old.xyz) * c.s1;
    moved = fma(a, (float3)(c.s2), moved);
    float3 place = fma(moved, (float3)(c.s3), x_old.xyz);
    place = fma(a, (float3)(c.s4), place);
    moved *= c.s5;
    if (c.s6 != 0.0f) {
        place.z = 0.0f;
        moved.z = 0.0f;
    }
#endif
    // Quarantine: a body that stops being finite keeps its last position, exerts no force (mass 0), and gets a NaN
    // velocity, which also keeps it in quarantine in every later step. Its group, v.w, stays the same.
    const bool finite = all_finite(place) && all_finite(moved);
    x_out[i] = finite ? (float4)(place, x_old.w) : (float4)(x_old.xyz, 0.0f);
    v[i] = (float4)(finite ? moved : (float3)(NAN), v_old.w);
#ifdef COMPENSATED
    v[n + i] = finite ? (float4)(place_low, 0.0f) : (float4)(0.0f);
    v[2 * n + i] = finite ? (float4)(moved_low, 0.0f) : (float4)(0.0f);
#endif
}

// Returns an estimate of the largest energy error of a body in any step so far, per unit of mass. The error of a step
// is half the time step, times the change of the acceleration between two evaluations, times the speed. The error is a
// small share of the orbit's energy if the steps resolve the orbit; it is as large as the energy of an encounter if a
// step jumps over the encounter. `before` holds the acceleration of the previous evaluation and, in w, the largest
// error until then. A pass that moves no body resets the error to 0.
float missed(float4 before, float3 a, float3 v, COEFFICIENTS c)
{
    const float h = fabs(c.s0 != 0.0f ? 2.0f * c.s0 : c.s2);
    if (h == 0.0f)
        return 0.0f;
    const float now = 0.5f * h * length(a - before.xyz) * (length(v) + 0.5f * h * length(a));
    return is_finite(now) ? fmax(before.w, now) : before.w;
}

// Completes a pass for body i: stores its acceleration `sum`, without the factor G, and advances it. `before` is the
// value of a[i] before the pass.
void end_pass(float3 sum, float4 before, uint i, uint n, COEFFICIENTS c, __global const float4 *x_in,
              __global float4 *x_out, __global float4 *v, __global float4 *a)
{
    a[i] = (float4)(sum, missed(before, sum, v[i].xyz, c));
    finish_step(sum, i, n, c, x_in, x_out, v);
}
