// Sums in more than single precision: `real` is double where the device has it, else an unevaluated sum of
// two floats (Dekker 1971; Knuth, The Art of Computer Programming 2, 4.2.2).
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

// a·b without rounding.
real real_product(float a, float b)
{
    return (double)a * (double)b;
}

real real_scaled(real a, float b)
{
    return a * b;
}
#else
// A product and a sum must not be fused here: the error terms rely on each rounding.
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
#endif

// Items to a work-group of every reduction.
#define REDUCE_GROUP 64

// Adds up `x` over the work-group of REDUCE_GROUP items; item 0 gets the sum. Every item must come here.
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
