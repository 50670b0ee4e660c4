// Sorts the bodies along a space-filling curve (Hilbert or Morton, the macro HILBERT), by a stable radix sort.

#define GROUP_256 __attribute__((reqd_work_group_size(256, 1, 1)))
#define DIGIT_BITS 8
#define DIGITS 256
// Keys that a work-item, and a work-group, sorts at once.
#define OWN_KEYS 8
#define TILE (256 * OWN_KEYS)

// Returns the least of the values of a warp.
float least_of_warp(float value, uint lane, __local uint *scratch)
{
    for (uint step = WARP / 2; step > 0; step /= 2)
        value = fmin(value, shuffle_float(value, lane ^ step, scratch));
    return value;
}

// Writes the lowest corner of the box around the bodies of each group, and the negative of its highest corner.
__kernel GROUP_256 void bounds(const uint n, __global const float4 *x, __global float *corners)
{
    __local uint scratch[256];
    __local float part[6][8];
    const uint own = get_local_id(0), lane = own % WARP, warp = own / WARP;
    const float4 first = x[0];
    float least[6] = { first.x, first.y, first.z, -first.x, -first.y, -first.z };
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        const float4 p = x[i];
        least[0] = fmin(least[0], p.x);
        least[1] = fmin(least[1], p.y);
        least[2] = fmin(least[2], p.z);
        least[3] = fmin(least[3], -p.x);
        least[4] = fmin(least[4], -p.y);
        least[5] = fmin(least[5], -p.z);
    }
    for (uint k = 0; k < 6; ++k) {
        const float least_k = least_of_warp(least[k], lane, scratch);
        if (lane == 0)
            part[k][warp] = least_k;
    }
    barrier(LOCAL);
    if (own < 6) {
        float all = part[own][0];
        for (uint k = 1; k < 8; ++k)
            all = fmin(all, part[own][k]);
        corners[own * get_num_groups(0) + get_group_id(0)] = all;
    }
}

// Returns the position of a point on the curve from its coordinates of LEVELS bits. The Morton curve interleaves the bits
// of the coordinates; the Hilbert curve transforms the coordinates first (Skilling 2004, AIP Conf. Proc. 707, 381).
ulong curve(uint x, uint y, uint z)
{
    uint c[3] = { x, y, z }, gray = 0;
#if HILBERT
    for (uint bit = 1u << (LEVELS - 1); bit > 1; bit >>= 1) {
        const uint low = bit - 1;
#pragma unroll
        for (uint k = 0; k < 3; ++k) {
            const uint change = (c[0] ^ c[k]) & low;
            if (c[k] & bit) {
                c[0] ^= low;
            } else {
                c[0] ^= change;
                c[k] ^= change;
            }
        }
    }
    c[1] ^= c[0];
    c[2] ^= c[1];
    for (uint bit = 1u << (LEVELS - 1); bit > 1; bit >>= 1)
        gray ^= c[2] & bit ? bit - 1 : 0;
#endif
    ulong key = 0;
#pragma unroll
    for (uint k = 0; k < 3; ++k) {
        // Two zero bits after each bit, then the three coordinates into each other.
        ulong bits = c[k] ^ gray;
        bits = (bits | bits << 32) & 0x001f00000000ffffUL;
        bits = (bits | bits << 16) & 0x001f0000ff0000ffUL;
        bits = (bits | bits << 8) & 0x100f00f00f00f00fUL;
        bits = (bits | bits << 4) & 0x10c30c30c30c30c3UL;
        bits = (bits | bits << 2) & 0x1249249249249249UL;
        key |= bits << (2 - k);
    }
    return key;
}

// Writes the key and the index of each body. `boxes` is the number of groups that found corners.
__kernel GROUP_256 void make_keys(const uint n, __global const float4 *x, __global const float *corners,
                                  const uint boxes, __global ulong *keys, __global uint *ids)
{
    __local uint scratch[256];
    __local float box[8];
    const uint own = get_local_id(0), lane = own % WARP, warp = own / WARP;
    const uint side = min(warp, 5u);
    float least = corners[side * boxes];
    for (uint k = lane; k < boxes; k += WARP)
        least = fmin(least, corners[side * boxes + k]);
    least = least_of_warp(least, lane, scratch);
    if (lane == 0)
        box[warp] = least;
    barrier(LOCAL);
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const float most = fmax(-box[3] - box[0], fmax(-box[4] - box[1], -box[5] - box[2]));
    const float scale = most > 0.0f ? (float)(1u << LEVELS) / most : 0.0f, last = (float)((1u << LEVELS) - 1);
    const float4 p = x[i];
    keys[i] = curve((uint)clamp((p.x - box[0]) * scale, 0.0f, last), (uint)clamp((p.y - box[1]) * scale, 0.0f, last),
                    (uint)clamp((p.z - box[2]) * scale, 0.0f, last));
    ids[i] = i;
}

// Counts the digits of each tile of keys at a bit.
__kernel GROUP_256 void count_digits(const uint n, const uint bit, const uint tiles, __global const ulong *keys,
                                     __global uint *counts)
{
    __local uint found[DIGITS];
    const uint own = get_local_id(0), tile = get_group_id(0);
    found[own] = 0;
    barrier(LOCAL);
    for (uint k = 0; k < OWN_KEYS; ++k) {
        const uint i = tile * TILE + k * 256 + own;
        if (i < n)
            atomic_inc(&found[(uint)(keys[i] >> bit) & (DIGITS - 1)]);
    }
    barrier(LOCAL);
    counts[own * tiles + tile] = found[own];
}

// Replaces each row of counts by the sums of those before, and writes the sum of each row. A group takes a row.
__kernel GROUP_256 void scan_rows(const uint length, __global uint *counts, __global uint *totals)
{
    __local uint sums[8], scratch[256];
    __global uint *row = counts + (size_t)get_group_id(0) * length;
    uint before = 0;
    for (uint start = 0; start < length; start += 2048) {
        uint values[8], sum = 0, all;
        const uint first = start + 8 * get_local_id(0);
        for (uint k = 0; k < 8; ++k) {
            values[k] = first + k < length ? row[first + k] : 0;
            sum += values[k];
        }
        uint place = scan_group(sum, sums, &all, scratch) + before;
        for (uint k = 0; k < 8; ++k) {
            if (first + k < length)
                row[first + k] = place;
            place += values[k];
        }
        before += all;
    }
    if (get_local_id(0) == 0)
        totals[get_group_id(0)] = before;
}

// Moves each tile's keys and ids to their places in the order of a digit; keys with equal digits keep their order. The
// tile is sorted in local memory first, so that neighbours are written together.
__kernel GROUP_256 void scatter(const uint n, const uint bit, const uint tiles, __global const uint *counts,
                                __global const uint *totals, __global const ulong *restrict keys,
                                __global const uint *restrict ids, __global ulong *restrict sorted,
                                __global uint *restrict sorted_ids)
{
    __local uint places[8][DIGITS], starts[DIGITS], sums[8], scratch[256], tile_ids[TILE];
    __local ulong tile_keys[TILE];
    const uint own = get_local_id(0), lane = own % WARP, warp = own / WARP, tile = get_group_id(0);
    const uint before_lane = (1u << lane) - 1;
    for (uint k = 0; k < 8; ++k)
        places[k][own] = 0;
    uint all;
    const uint base = scan_group(totals[own], sums, &all, scratch) + counts[own * tiles + tile];
    barrier(LOCAL);

    // A key's rank among the keys of its warp with the same digit.
    ulong key[OWN_KEYS];
    uint id[OWN_KEYS], rank[OWN_KEYS];
    volatile __local uint *place = places[warp];
    const uint first = tile * TILE + warp * (WARP * OWN_KEYS) + lane;
#pragma unroll
    for (uint k = 0; k < OWN_KEYS; ++k) {
        const uint i = first + k * WARP;
        key[k] = i < n ? keys[i] : 0;
        id[k] = i < n ? ids[i] : 0;
    }
#pragma unroll
    for (uint k = 0; k < OWN_KEYS; ++k) {
        const bool inside = first + k * WARP < n;
        const uint digit = (uint)(key[k] >> bit) & (DIGITS - 1);
        uint peers = ballot(inside, scratch);
        for (uint b = 0; b < DIGIT_BITS; ++b) {
            const bool is_set = (digit >> b & 1) != 0;
            const uint set = ballot(is_set, scratch);
            peers &= is_set ? set : ~set;
        }
        const uint earlier = place[digit], nth = popcount(peers & before_lane);
        sync_warp();
        if (inside && nth == 0)
            place[digit] = earlier + popcount(peers);
        sync_warp();
        rank[k] = earlier + nth;
    }
    barrier(LOCAL);
    // `own` is a digit here: where its keys begin in the tile, and in the tile by warps.
    uint count = 0;
    for (uint k = 0; k < 8; ++k)
        count += places[k][own];
    uint start = scan_group(count, sums, &all, scratch);
    starts[own] = base - start;
    for (uint k = 0; k < 8; ++k) {
        const uint keys_of_warp = places[k][own];
        places[k][own] = start;
        start += keys_of_warp;
    }
    barrier(LOCAL);
#pragma unroll
    for (uint k = 0; k < OWN_KEYS; ++k) {
        if (first + k * WARP < n) {
            const uint to = places[warp][(uint)(key[k] >> bit) & (DIGITS - 1)] + rank[k];
            tile_keys[to] = key[k];
            tile_ids[to] = id[k];
        }
    }
    barrier(LOCAL);
    for (uint k = own; k < min((uint)TILE, n - tile * TILE); k += 256) {
        const ulong moving = tile_keys[k];
        const uint to = starts[(uint)(moving >> bit) & (DIGITS - 1)] + k;
        sorted[to] = moving;
        sorted_ids[to] = tile_ids[k];
    }
}

// Copies the bodies, and the size of the last acceleration of each, in the order of the keys.
__kernel void gather(const uint n, __global const uint *ids, __global const float4 *x, __global const float *last,
                     __global float4 *bodies, __global float *least)
{
    const uint i = get_global_id(0);
    if (i < n) {
        bodies[i] = x[ids[i]];
        least[i] = last[ids[i]];
    }
}
