// For GPUs: a work-item sums over all other bodies for K bodies at once, so that each body read from the tile serves K
// pairs. SPLIT work-items share the tile: each sums its part of the tile for the same K bodies, so that even few bodies
// keep a large device busy. The partial sums are added in local memory.
#if SPLIT < WORK_GROUP
#define SHARES SPLIT
#else
#define SHARES WORK_GROUP
#endif
// Number of work-items with the same part of the tile. They are adjacent and read the same body at the same time. If
// SHARES does not divide the work-group, the remaining work-items only help to load; their sums are ignored.
#define SLOTS (WORK_GROUP / SHARES)
// Number of bodies that the work-items of all parts read in one iteration of the unrolled loop. The tile is padded with
// bodies without effect to a multiple of this number.
#define TURN (SHARES * UNROLL)
#define TILE ((WORK_GROUP + TURN - 1) / TURN * TURN)

// Returns body `j` in the form that the tile stores.
float4 source(uint j, uint n, __global const float4 *x_in)
{
    float4 body = j < n ? x_in[j] : (float4)(0.0f);
#ifdef EQUAL_MASS
    // The common mass is a factor of the whole sum, so a body without mass is put at a distance of FINITE_LIMIT units,
    // where its force is zero. Bodies with mass are within FINITE_LIMIT.
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
    // get_group_id would be wrong here: the work-items of a slice start at a global offset.
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
        // Work-items without a part write beyond the last part, where nothing is read.
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
