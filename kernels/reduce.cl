// Sums in more than single precision: `real` is double where the device supports it, and otherwise an unevaluated sum
// of two floats (Dekker 1971; Knuth, The Art of Computer Programming 2, 4.2.2).
#ifdef FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;

real real_of(float x)
{
    return x;
}

real real_add(real a, real b)
{
    return a + b;
}

// Returns a·b without rounding.
real real_product(float a, float b)
{
    return (double)a * (double)b;
}

real real_scaled(real a, float b)
{
    return a * b;
}

float real_rounded(real a)
{
    return (float)a;
}
#else
// Products and sums must not be fused here: the error terms rely on each rounding.
#pragma OPENCL FP_CONTRACT OFF
typedef float2 real; // (high, low)

real real_of(float x)
{
    return (real)(x, 0.0f);
}

real real_sum(float a, float b)
{
    float s = a + b;
    float t = s - a;
    return (real)(s, (a - (s - t)) + (b - t));
}

real real_add(real a, real b)
{
    real s = real_sum(a.x, b.x);
    return real_sum(s.x, s.y + a.y + b.y);
}

real real_product(float a, float b)
{
    float p = a * b;
    return (real)(p, fma(a, b, -p));
}

real real_scaled(real a, float b)
{
    real p = real_product(a.x, b);
    return real_sum(p.x, fma(a.y, b, p.y));
}

float real_rounded(real a)
{
    return a.x;
}
#endif

// Returns the sum of `x` over the work-group of REDUCE_GROUP work-items (defined by modes/reduction.rs). Every
// work-item must call this function.
real group_sum(real x, __local real *scratch)
{
    const uint lane = get_local_id(0);
    scratch[lane] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_ = REDUCE_GROUP / 2; half_ > 0; half_ /= 2) {
        if (lane < half_)
            scratch[lane] = real_add(scratch[lane], scratch[lane + half_]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    real sum = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

// A row of SUMS sums: ½mv², potential, mv (3), m|v|, m x×v (3), number of excluded bodies, 3 sums specific to the mode.
#define POTENTIAL 1
#define EXTRA 10

void clear_sums(real *s)
{
    for (uint k = 0; k < SUMS; ++k)
        s[k] = real_of(0.0f);
}

// Adds a body with position p, velocity u and mass m to the sums, if u is finite. Returns whether the body was added.
bool add_body(real *s, float3 p, float3 u, float m)
{
    if (!all_finite(u)) {
        s[9] = real_add(s[9], real_of(1.0f));
        return false;
    }
    real u2 = real_add(real_add(real_product(u.x, u.x), real_product(u.y, u.y)), real_product(u.z, u.z));
    s[0] = real_add(s[0], real_scaled(u2, 0.5f * m));
    s[2] = real_add(s[2], real_product(m, u.x));
    s[3] = real_add(s[3], real_product(m, u.y));
    s[4] = real_add(s[4], real_product(m, u.z));
    s[5] = real_add(s[5], real_product(m, length(u)));
    s[6] = real_add(s[6], real_scaled(real_add(real_product(p.y, u.z), real_product(-p.z, u.y)), m));
    s[7] = real_add(s[7], real_scaled(real_add(real_product(p.z, u.x), real_product(-p.x, u.z)), m));
    s[8] = real_add(s[8], real_scaled(real_add(real_product(p.x, u.y), real_product(-p.y, u.x)), m));
    return true;
}

// Adds up the sums of all work-items, and writes the totals to the row of the work-group. Every work-item must call
// this function.
void store_sums(const real *s, __global real *rows, __local real *scratch)
{
    for (uint k = 0; k < SUMS; ++k) {
        real sum = group_sum(s[k], scratch);
        if (get_local_id(0) == 0)
            rows[get_group_id(0) * SUMS + k] = sum;
    }
}

// Writes the two maxima over all work-items to the row of the work-group. Every work-item must call this function.
void store_maxima(float2 most, __global float2 *maxima, __local float2 *scratch)
{
    const uint lane = get_local_id(0);
    scratch[lane] = most;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_ = REDUCE_GROUP / 2; half_ > 0; half_ /= 2) {
        if (lane < half_)
            scratch[lane] = fmax(scratch[lane], scratch[lane + half_]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        maxima[get_group_id(0)] = scratch[0];
}
