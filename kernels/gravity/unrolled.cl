// Like the variant `tiled`, but each iteration of the inner loop computes eight interactions: fewer jumps and counters,
// and eight independent loads for the compiler to overlap.
#define PULL(k) sum = attract(sum, own.xyz, tile[k], eps2)

__kernel WHOLE_GROUPS void advance(const uint n, const float eps2, const COEFFICIENTS c,
                                   __global const float4 *x_in, __global float4 *x_out, __global float4 *v,
                                   __global float4 *a)
{
    __local float4 tile[WORK_GROUP];
    const uint i = get_global_id(0);
    const uint lane = get_local_id(0);
    const float4 own = i < n ? x_in[i] : (float4)(0.0f);
    float3 sum = (float3)(0.0f);
    for (uint start = 0; start < n; start += WORK_GROUP) {
        tile[lane] = start + lane < n ? x_in[start + lane] : (float4)(0.0f);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint k = 0;
        for (; k + 8 <= WORK_GROUP; k += 8) {
            PULL(k);
            PULL(k + 1);
            PULL(k + 2);
            PULL(k + 3);
            PULL(k + 4);
            PULL(k + 5);
            PULL(k + 6);
            PULL(k + 7);
        }
        for (; k < WORK_GROUP; ++k)
            PULL(k);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i >= n)
        return;
    end_pass(gravity(sum, c), a[i], i, n, c, x_in, x_out, v, a);
}
