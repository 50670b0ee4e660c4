// Kernels of the variant `mutual` for several devices. Each device computes some tiles and sums their forces on each
// body; then the device that moves a body adds up the sums of all devices.

// Clears the slots of the forces, because the tiles of one device do not write all of them.
__kernel void clear(const uint n, __global float2 *slots)
{
    const uint i = get_global_id(0);
    if (i < n)
        slots[i] = (float2)(0.0f);
}

__kernel void collect(const uint n, const uint length, const uint depth, __global const float *slots,
                      __global float *parts)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    float3 sum = 0.0f;
    for (uint s = 0; s < 2 * depth; ++s) {
        __global const float *felt = slots + 3 * length * (size_t)s + i;
        sum += (float3)(felt[0], felt[length], felt[2 * length]);
    }
    vstore3(sum, i, parts);
}

// Completes the step of `count` of the n bodies, beginning with body `first`.
__kernel void finish(const uint n, const uint first, const uint count, const uint devices, const uint stride, const COEFFICIENTS c,
                     __global const float *parts, __global const float *others, __global const float4 *x_in,
                     __global float4 *x_out, __global float4 *v, __global float4 *a)
{
    const uint nth = get_global_id(0);
    if (nth >= count)
        return;
    const uint i = first + nth;
    float3 sum = vload3(i, parts);
    for (uint d = 0; d < devices; ++d)
        sum += vload3(nth, others + 3 * stride * (size_t)d);
    end_pass(gravity(sum, c) * UNIT_SUM, a[i], i, n, c, x_in, x_out, v, a);
}
