// Functions and kernels that prepare and complete a walk of the tree, for CPUs and GPUs.

#if !ACCELERATION_CRITERION
// Returns the largest radius of an accepted cell, as a fraction of its distance. A negative `opening` is for bodies
// whose accelerations are not known.
float angle_of(float opening)
{
    return opening < 0.0f ? FIRST_ANGLE : fmin(LARGEST_ANGLE, ANGLE_SCALE * cbrt(sqrt(opening)));
}
#endif

// The squared softening length for cells that act on expansions. With clamped softening it is 0, because all these
// cells are farther away than eps, where Newton's law holds.
#ifdef SOFTENING_CLAMP
#define FAR_EPS2(eps2) 0.0f
#else
#define FAR_EPS2(eps2) (eps2)
#endif

#ifdef POTENTIAL
// A walk sums potentials instead of accelerations, as `real` numbers (see reduce.cl).
#ifdef FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define RESULTS __global double *phi
#define real_of(x) ((double)(x))
#else
#define RESULTS __global float2 *phi
#define real_of(x) ((float2)((x), 0.0f))
#endif
#else
#define RESULTS __global float4 *sums
#endif

// Returns the length of a vector whose square may overflow, or 0 if the length is not a finite number.
float magnitude(float3 a)
{
    const float3 b = fabs(a);
    const float most = fmin(fmax(b.x, fmax(b.y, b.z)), FLT_MAX / 2.0f);
    const float size = most * length(a / most);
    return most > 0.0f && size <= FLT_MAX ? size : 0.0f;
}

// Writes the magnitudes of the accelerations (without the factor G) to `last`.
__kernel void measure(const uint n, __global const float4 *sums, __global float *last)
{
    const uint i = get_global_id(0);
    if (i < n)
        last[i] = magnitude(sums[i].xyz);
}

// Adds up the numbers of pairs, cells and expanded cells that the walks evaluated. Writes `count` partial
// sums to `totals`: number i covers the walks i, i + count, i + 2 count and so on.
__kernel void count_work(const uint walks, const uint count, __global const uint4 *work, __global ulong *totals)
{
    const uint nth = get_global_id(0);
    if (nth >= count)
        return;
    ulong total = 0;
    for (uint walk = nth; walk < walks; walk += count)
        total += (ulong)work[walk].x + work[walk].y + work[walk].z;
    totals[nth] = total;
}

// Copies the accelerations of this device's bodies to the array `sorted`, so that the device can send them to others.
// The bodies of this device are the `count` bodies from position `first` of the sorted order on.
__kernel void collect(const uint first, const uint count, __global const uint *ids, __global const float4 *sums,
                      __global float *sorted)
{
    const uint nth = get_global_id(0), place = first + nth;
    if (nth < count)
        vstore3(sums[ids[place]].xyz, place, sorted);
}

// Copies the accelerations that other devices have sent from the array `sorted` to `sums`, which is in the order of the
// bodies' ids. Skips the `count` bodies from position `first` of the sorted order on, which this device has computed
// itself.
__kernel void distribute(const uint n, const uint first, const uint count, __global const uint *ids,
                         __global const float *sorted, __global float4 *sums)
{
    const uint nth = get_global_id(0), place = nth < first ? nth : nth + count;
    if (place < n)
        sums[ids[place]].xyz = vload3(place, sorted);
}

// Completes the step of the n bodies. `sums` holds their accelerations without the factor G. Writes the magnitudes of
// the accelerations to `last`.
__kernel void finish(const uint n, const COEFFICIENTS c, __global const float4 *sums, __global float *last,
                     __global const float4 *x_in, __global float4 *x_out, __global float4 *v, __global float4 *a)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const float3 sum = sums[i].xyz;
    last[i] = magnitude(sum);
    end_pass(gravity(sum, c), a[i], i, n, c, x_in, x_out, v, a);
}
