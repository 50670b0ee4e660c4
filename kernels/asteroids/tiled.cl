// The work-group loads the positions of WORK_GROUP bodies into local memory. Velocities, which only the few touching
// pairs need, are still read from global memory. AT_ONCE bodies are tested before one branch.
#define AT_ONCE 8
#define TILE ((WORK_GROUP + AT_ONCE - 1) / AT_ONCE * AT_ONCE)

__kernel WHOLE_GROUPS void advance(const uint n, const COEFFICIENTS c, __global const float4 *x_in,
                                   __global const float4 *v_in, OUTPUT)
{
    __local float4 tile[TILE];
    const uint i = get_global_id(0);
    const uint lane = get_local_id(0);
    // Work-items beyond the last body help to load tiles, so no work-item returns before the barriers. A body at NaN
    // touches no body.
    const float4 own = i < n ? x_in[i] : (float4)(NAN);
    const float4 own_v = i < n ? v_in[i] : (float4)(0.0f);
    Contacts s = no_contacts();
    for (uint start = 0; start < n; start += TILE) {
        for (uint t = lane; t < TILE; t += WORK_GROUP)
            tile[t] = start + t < n ? x_in[start + t] : (float4)(NAN);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint first = 0; first < TILE; first += AT_ONCE) {
            bool any = false;
#pragma unroll
            for (uint k = 0; k < AT_ONCE; ++k)
                any |= touches(own, tile[first + k], c);
            if (!any)
                continue;
            for (uint k = first; k < first + AT_ONCE; ++k)
                if (touches(own, tile[k], c) && start + k != i)
                    meet(&s, n, i, start + k, i, start + k, own, own_v, tile[k], v_in[start + k], c, OUT);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n)
        finish(s, i, i, own, own_v, c, OUT);
}
