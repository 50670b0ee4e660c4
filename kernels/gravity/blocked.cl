// For GPUs: a work-item sums for K bodies at once, so that each body read from the tile serves K pairs; and the
// tile is shared out among SPLIT items, each summing its share of it for the same K bodies, so that few bodies
// fill a large device too. The shares are added up in local memory.
#if SPLIT < WORK_GROUP
#define SHARES SPLIT
#else
#define SHARES WORK_GROUP
#endif
// Items side by side with the same share read the same body of the tile at once. Where SHARES does not divide the
// work-group, the items left over help to load; what they sum is left out.
#define SLOTS (WORK_GROUP / SHARES)
// The tile is filled with bodies that pull no one, up to a whole number of turns of the unrolled loop.
#define TURN (SHARES * UNROLL)
#define TILE ((WORK_GROUP + TURN - 1) / TURN * TURN)

// The body `j` as it stands in the tile.
float4 source(uint j, uint n, __global const float4 *x_in)
{
    float4 body = j < n ? x_in[j] : (float4)(0.0f);
#ifdef EQUAL_MASS
    // The common mass stands outside the sum, so a body without mass is put so far away that its pull is zero: at
    // FINITE_LIMIT units, where all others are within FINITE_LIMIT.
    body = body.w == 0.0f ? (float4)(FINITE_LIMIT) : body * UNIT;
#endif
    return body;
}

__kernel WHOLE_GROUPS void advance(const uint n, const float eps2, const COEFFICIENTS c,
                                   __global const float4 *x_in, __global float4 *x_out, __global float4 *v,
                                   __global float4 *a)
{
    __local float4 tile[TILE];
    const uint lane = get_local_id(0);
    const uint slot = lane % SLOTS;
    const uint share = min(lane / SLOTS, (uint)(SHARES - 1));
    // Not get_group_id: a slice of the bodies begins at a global offset.
    const uint first = get_global_id(0) / WORK_GROUP * (SLOTS * K) + slot;
#ifdef EQUAL_MASS
    const float soft2 = eps2 * UNIT * UNIT;
#else
    const float soft2 = eps2;
#endif
    Columns own[K];
#pragma unroll
    for (uint k = 0; k < K; ++k) {
        float4 body = x_in[min(first + k * SLOTS, n - 1)];
#ifdef EQUAL_MASS
        body *= UNIT;
#endif
        Columns start = { body.x, body.y, body.z, 0.0f, 0.0f, 0.0f };
        own[k] = start;
    }
    for (uint start = 0; start < n; start += TILE) {
        for (uint t = lane; t < TILE; t += WORK_GROUP)
            tile[t] = source(start + t, n, x_in);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint t = share; t < TILE; t += TURN) {
#pragma unroll
            for (uint u = 0; u < UNROLL; ++u) {
                const float4 other = tile[t + u * SHARES];
#pragma unroll
                for (uint k = 0; k < K; ++k)
                    attract_columns(&own[k], other, soft2);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (uint k = 0; k < K; ++k) {
        float3 sum = (float3)(own[k].ax, own[k].ay, own[k].az);
#if SHARES > 1
        // Items left over write behind the last share.
        tile[lane] = (float4)(sum, 0.0f);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < SLOTS)
            for (uint s = 1; s < SHARES; ++s)
                sum += tile[s * SLOTS + slot].xyz;
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        const uint i = first + k * SLOTS;
        if (lane < SLOTS && i < n) {
            sum = gravity(sum, c);
#ifdef EQUAL_MASS
            sum *= UNIT_SUM;
#endif
            end_pass(sum, a[i], i, n, c, x_in, x_out, v, a);
        }
    }
}
