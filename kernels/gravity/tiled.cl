// The work-group loads WORK_GROUP bodies into local memory, one per work-item, and all its work-items use them. So a
// body is read from global memory once per work-group instead of once per work-item.
__kernel WHOLE_GROUPS void advance(const uint n, const float eps2, const COEFFICIENTS c,
                                   __global const float4 *x_in, __global float4 *x_out, __global float4 *v,
                                   __global float4 *a)
{
    __local float4 tile[WORK_GROUP];
    const uint i = get_global_id(0);
    const uint lane = get_local_id(0);
    // Work-items beyond the last body help to load tiles, so no work-item returns before the barriers. Elements of a
    // tile beyond the last body have mass 0 and exert no force.
    const float4 own = i < n ? x_in[i] : (float4)(0.0f);
    float3 sum = (float3)(0.0f);
    for (uint start = 0; start < n; start += WORK_GROUP) {
        tile[lane] = start + lane < n ? x_in[start + lane] : (float4)(0.0f);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < WORK_GROUP; ++k)
            sum = attract(sum, own.xyz, tile[k], eps2);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i >= n)
        return;
    end_pass(gravity(sum, c), a[i], i, n, c, x_in, x_out, v, a);
}
