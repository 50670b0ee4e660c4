// Like the variant `tiled`, but the tile in local memory also holds velocities. This pays in a crowd, where many pairs
// touch.
__kernel WHOLE_GROUPS void advance(const uint n, const COEFFICIENTS c, __global const float4 *x_in,
                                   __global const float4 *v_in, OUTPUT)
{
    __local float4 tile[WORK_GROUP];
    __local float4 tile_v[WORK_GROUP];
    const uint i = get_global_id(0);
    const uint lane = get_local_id(0);
    const float4 own = i < n ? x_in[i] : (float4)(NAN);
    const float4 own_v = i < n ? v_in[i] : (float4)(0.0f);
    Contacts s = no_contacts();
    for (uint start = 0; start < n; start += WORK_GROUP) {
        const bool is_body = start + lane < n;
        tile[lane] = is_body ? x_in[start + lane] : (float4)(NAN);
        tile_v[lane] = is_body ? v_in[start + lane] : (float4)(0.0f);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < WORK_GROUP; ++k) {
            if (touches(own, tile[k], c) && start + k != i)
                meet(&s, n, i, start + k, i, start + k, own, own_v, tile[k], tile_v[k], c, OUT);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n)
        finish(s, i, i, own, own_v, c, OUT);
}
