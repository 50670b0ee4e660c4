// Sorts the bodies along a space-filling curve (Hilbert or Morton, selected by the macro HILBERT), by a stable radix
// sort.

#define GROUP_256 __attribute__((reqd_work_group_size(256, 1, 1)))
#define DIGIT_BITS 8
#define DIGITS 256
// Number of keys that a work-item, and a work-group, sorts at a time.
#define OWN_KEYS 8
#define TILE (256 * OWN_KEYS)

// Number of rows of the array `extent`, which has a column for each work-group of `measure_extent`. The first
// LEAST_ROWS rows are the lowest coordinates and the negatives of the highest ones. The others are sums over pairs of
// bodies: of the midpoint divided by the distance, of 1 / distance, of the logarithm of the squared distance, and of 1.
// In these sums, a few bodies count little, however far away they are.
#define EXTENT_ROWS 12
#define LEAST_ROWS 6

// Returns the smallest of the values of a warp if `least` is set, or else their sum.
float reduce_warp(float value, bool least, uint lane, __local uint *scratch)
{
    for (uint step = WARP / 2; step > 0; step /= 2) {
        const float other = shuffle_float(value, lane ^ step, scratch);
        value = least ? fmin(value, other) : value + other;
    }
    return value;
}

// Measures the box around the bodies, and their typical distance from pairs of bodies, one per work-item. EXTENT_ROWS
// describes the results.
__kernel GROUP_256 void measure_extent(const uint n, __global const float4 *x, __global float *extent)
{
    __local uint scratch[256];
    __local float part[EXTENT_ROWS][8];
    const uint own = get_local_id(0), lane = own % WARP, warp = own / WARP;
    const float4 first = x[0];
    float values[EXTENT_ROWS] = { first.x, first.y, first.z, -first.x, -first.y, -first.z,
                                  0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f };
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        const float4 p = x[i];
        values[0] = fmin(values[0], p.x);
        values[1] = fmin(values[1], p.y);
        values[2] = fmin(values[2], p.z);
        values[3] = fmin(values[3], -p.x);
        values[4] = fmin(values[4], -p.y);
        values[5] = fmin(values[5], -p.z);
    }
    // Selects a pair of bodies by two numbers that are spread evenly and independent of the order of the bodies.
    const uint a = get_global_id(0) * 2654435769u, b = a * 2246822519u + 3266489917u;
    const float3 one = x[mul_hi(a, n)].xyz, other = x[mul_hi(b, n)].xyz, apart = one - other;
    const float distance2 = dot(apart, apart);
    if (distance2 > 0.0f && distance2 < INFINITY) {
        const float weight = rsqrt(distance2);
        const float3 middle = weight * (0.5f * one + 0.5f * other);
        values[6] = middle.x;
        values[7] = middle.y;
        values[8] = middle.z;
        values[9] = weight;
        values[10] = log2(distance2);
        values[11] = 1.0f;
    }
    for (uint k = 0; k < EXTENT_ROWS; ++k) {
        const float value = reduce_warp(values[k], k < LEAST_ROWS, lane, scratch);
        if (lane == 0)
            part[k][warp] = value;
    }
    barrier(LOCAL);
    if (own < EXTENT_ROWS) {
        float all = part[own][0];
        for (uint k = 1; k < 8; ++k)
            all = own < LEAST_ROWS ? fmin(all, part[own][k]) : all + part[own][k];
        extent[own * get_num_groups(0) + get_group_id(0)] = all;
    }
}

// Returns the position of a point on the curve from its coordinates of LEVELS bits. The Morton curve interleaves the
// bits of the coordinates; the Hilbert curve transforms the coordinates first (Skilling 2004, AIP Conf. Proc. 707,
// 381).
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
        // Inserts two zero bits after each bit of a coordinate, so that the three coordinates can be interleaved.
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

// Returns the index, along one axis, of the cell of the finest grid that contains the coordinate t. The unit of t is
// half the width of the region that contains most or all bodies, whose middle is at t = 0. `shift` is the offset of the
// region in the grid (`grid_shift`). With `open_ended`, the inner half of the cells covers the region, and the outer
// cells, which grow with the distance, cover everything else.
uint grid_cell(float t, float shift, bool open_ended)
{
    const float size = fabs(t), u = open_ended ? (size > 1.0f ? 1.0f - 0.5f / size : 0.5f * size) : size;
    const float place = (copysign(u, t) + 1.0f) * (0.5f - 0.5f * WIDER) + shift;
    return (uint)clamp(place * (float)(1u << LEVELS), 0.0f, (float)((1u << LEVELS) - 1));
}

// Writes the key and the index of each body. `columns` is the number of work-groups that measured the extent.
//
// The grid covers the smallest cube around the bodies. But if the cube is much larger than the typical distance between
// two bodies, a few bodies are far away from all the others. Then the grid is centred on the majority of the bodies and
// open-ended, so that its cells are small where most bodies are.
__kernel GROUP_256 void make_keys(const uint n, __global const float4 *x, __global const float *extent,
                                  const uint columns, __global ulong *keys, __global uint *ids)
{
    __local uint scratch[256];
    __local float found[16];
    const uint own = get_local_id(0), lane = own % WARP, warp = own / WARP;
    for (uint k = 0; k < 2; ++k) {
        const uint row = warp + 8 * k, valid = min(row, EXTENT_ROWS - 1u);
        const bool least = valid < LEAST_ROWS;
        float value = least ? INFINITY : 0.0f;
        for (uint c = lane; c < columns; c += WARP) {
            const float other = extent[valid * columns + c];
            value = least ? fmin(value, other) : value + other;
        }
        value = reduce_warp(value, least, lane, scratch);
        if (lane == 0)
            found[row] = value;
    }
    barrier(LOCAL);
    const float3 low = (float3)(found[0], found[1], found[2]), high = -(float3)(found[3], found[4], found[5]);
    const float3 half_size = 0.5f * high - 0.5f * low;
    const float most = fmax(half_size.x, fmax(half_size.y, half_size.z));
    const float weights = found[9], logarithms = found[10], pairs = found[11];
    const float typical = pairs > 0.0f ? exp2(0.5f * logarithms / pairs) : most;
    const bool open_ended = most > OPEN_ENDED * typical;
    const float3 typical_place = (float3)(found[6], found[7], found[8]) / weights;
    const float3 middle = open_ended ? typical_place : low + half_size;
    const float width = open_ended ? 0.5f * OPEN_ENDED * typical : most;
    const float scale = width > 0.0f ? 1.0f / width : 0.0f;
    const float3 shift = grid_shift(low, high);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        const float3 t = (x[i].xyz - middle) * scale;
        keys[i] = curve(grid_cell(t.x, shift.x, open_ended), grid_cell(t.y, shift.y, open_ended),
                        grid_cell(t.z, shift.z, open_ended));
        ids[i] = i;
    }
}

// Counts how often each value of a digit occurs in each tile of keys. The digit begins at the given bit.
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

// Replaces each count by the sum of the counts before it in the same row, and writes the total of each row. A
// work-group processes a row.
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

// Moves the keys and ids of each tile to their places in the order of the digit that begins at the given bit. Keys with
// equal digits keep their order. The tile is sorted in local memory first, so that neighbours are written together.
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

    // Computes the rank of each key among the keys of its warp with the same digit.
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
    // Each work-item takes the digit `own`, and computes where the keys with this digit begin in the sorted tile, for
    // the whole tile and for each warp.
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

// Number of ranks of bodies by cost, the number of bodies and cells that acted on a body. The first rank has the
// highest costs; from rank to rank, the cost halves.
#define RANKS 8

// Returns the rank of a body, given the number of bodies and cells that acted on it.
uchar rank_of(float cost)
{
    return (uchar)clamp(14.0f - log2(cost), 0.0f, RANKS - 1.0f);
}

// Copies the bodies, and the magnitude of the last acceleration of each, in the order of the keys. With `has_costs`,
// also computes the rank of each body from the fourth number of `sums`, the number of bodies and cells that acted on
// the body in the last walk.
__kernel void gather(const uint n, __global const uint *ids, __global const float4 *x, __global const float *last,
                     __global const float4 *sums, const uint has_costs, __global float4 *bodies, __global float *least,
                     __global uchar *ranks)
{
    const uint i = get_global_id(0);
    if (i < n) {
        const uint id = ids[i];
        bodies[i] = x[id];
        least[i] = last[id];
        if (has_costs)
            ranks[i] = rank_of(sums[id].w);
    }
}
