// Returns the length of a vector, where its square may be no float. What is no number has length 0.
float size_of(float3 a)
{
    const float3 b = fabs(a);
    const float most = fmin(fmax(b.x, fmax(b.y, b.z)), FLT_MAX / 2.0f);
    return most > 0.0f ? most * length(a / most) : 0.0f;
}

#ifdef POTENTIAL
// Results of a walk. Potentials are added up as `real` (see reduce.cl).
#ifdef FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define RESULTS __global double *phi
#define real_of(x) ((double)(x))
#else
#define RESULTS __global float2 *phi
#define real_of(x) ((float2)((x), 0.0f))
#endif
#else
#define RESULTS __global float4 *sums, __global float *last
#endif

// Ends the step of each body with the sum of its forces.
__kernel void finish(const uint n, const COEFFICIENTS c, __global const float4 *sums, __global const float4 *x_in,
                     __global float4 *x_out, __global float4 *v, __global float4 *a)
{
    const uint i = get_global_id(0);
    if (i < n)
        end_pass(gravity(sums[i].xyz, c), a[i], i, n, c, x_in, x_out, v, a);
}
