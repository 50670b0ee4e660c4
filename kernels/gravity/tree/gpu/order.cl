// Sorts the bodies along a space-filling curve (Hilbert or Morton, selected by the macro HILBERT), by a stable radix
// sort: each kernel `scatter` sorts by one digit of the keys, from the lowest digit to the highest.

#define GROUP_256 __attribute__((reqd_work_group_size(256, 1, 1)))
#define DIGIT_BITS 8
#define DIGITS 256
// Number of keys that a work-group sorts at a time. The work-group has SORTERS work-items, a number that the host
// defines: 512, or 256 if the device allows no more. Each has OWN_KEYS keys.
#define TILE 4096
#define OWN_KEYS (TILE / SORTERS)
// Number of digits of a key; the sort moves the keys once for each digit.
#define MOVES ((3 * LEVELS + DIGIT_BITS - 1) / DIGIT_BITS)

// Number of rows of the array `extent`, which has a column for each work-group of `measure_extent`. The first
// LEAST_ROWS rows are the lowest coordinates and the negatives of the highest ones. The others are sums over pairs of
// bodies: of the midpoint divided by the distance, of 1 / distance, of the logarithm of the squared distance, and of 1.
// In these sums, a few bodies count little, however far away they are.
#define EXTENT_ROWS 12
#define LEAST_ROWS 6

// Number of bodies that a work-item reads at once to measure the extent.
#define BODIES_AT_ONCE 4

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
// describes the results. Also sets `totals` to 0.
__kernel GROUP_256 void measure_extent(const uint n, __global const float4 *x, __global float *extent,
                                       __global uint *totals)
{
    __local uint scratch[256];
    __local float part[EXTENT_ROWS][8];
    const uint own = get_local_id(0), lane = own % WARP, warp = own / WARP;
    for (uint i = get_global_id(0); i < MOVES * (DIGITS + 1); i += get_global_size(0))
        totals[i] = 0;
    const float4 first = x[0];
    float values[EXTENT_ROWS] = { first.x, first.y, first.z, -first.x, -first.y, -first.z,
                                  0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f };
    for (uint i = get_global_id(0); i < n; i += BODIES_AT_ONCE * get_global_size(0)) {
        float4 p[BODIES_AT_ONCE];
#pragma unroll
        for (uint k = 0; k < BODIES_AT_ONCE; ++k)
            p[k] = x[min(i + k * (uint)get_global_size(0), n - 1)];
#pragma unroll
        for (uint k = 0; k < BODIES_AT_ONCE; ++k) {
            values[0] = fmin(values[0], p[k].x);
            values[1] = fmin(values[1], p[k].y);
            values[2] = fmin(values[2], p[k].z);
            values[3] = fmin(values[3], -p[k].x);
            values[4] = fmin(values[4], -p[k].y);
            values[5] = fmin(values[5], -p[k].z);
        }
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

// Inserts two zero bits after each of the lowest 10 bits.
uint spread(uint bits)
{
    bits = (bits | bits << 16) & 0x030000ff;
    bits = (bits | bits << 8) & 0x0300f00f;
    bits = (bits | bits << 4) & 0x030c30c3;
    return (bits | bits << 2) & 0x09249249;
}

// Returns the position of a point on the curve from its coordinates of LEVELS bits. The Morton curve interleaves the
// bits of the coordinates; the Hilbert curve transforms the coordinates first (Skilling 2004, AIP Conf. Proc. 707,
// 381).
ulong curve(uint x, uint y, uint z)
{
    uint c[3] = { x, y, z };
#if HILBERT
#pragma unroll
    for (uint bit = LEVELS - 1; bit > 0; --bit) {
        const uint low = (1u << bit) - 1;
#pragma unroll
        for (uint k = 0; k < 3; ++k) {
            // Inverts the lower bits of the first coordinate, or exchanges them with those of coordinate k.
            const uint inverts = 0u - (c[k] >> bit & 1), change = (c[0] ^ c[k]) & low & ~inverts;
            c[0] ^= change | (low & inverts);
            c[k] ^= change;
        }
    }
    c[1] ^= c[0];
    c[2] ^= c[1];
    // Each bit is inverted if the number of ones among the higher bits of the last coordinate is odd.
    uint inverts = c[2] >> 1;
    for (uint step = 1; step < LEVELS; step *= 2)
        inverts ^= inverts >> step;
    for (uint k = 0; k < 3; ++k)
        c[k] ^= inverts;
#endif
    uint low = 0, high = 0;
    for (uint k = 0; k < 3; ++k) {
        low |= spread(c[k] & 0x3ff) << (2 - k);
        high |= spread(c[k] >> 10) << (2 - k);
    }
    return (ulong)high << 30 | low;
}

// Returns the digit of a key by which the given move of the sort sorts.
uint digit_of(ulong key, uint move)
{
    return (uint)(key >> (move * DIGIT_BITS)) & (DIGITS - 1);
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

// Writes the key and the index of each body. `columns` is the number of work-groups that measured the extent. Prepares
// the sort: adds the number of keys with each value of each digit to `totals`, and sets `states` to 0.
//
// The grid covers the smallest cube around the bodies. But if the cube is much larger than the typical distance between
// two bodies, a few bodies are far away from all the others. Then the grid is centred on the majority of the bodies and
// open-ended, so that its cells are small where most bodies are.
__kernel GROUP_256 void make_keys(const uint n, __global const float4 *x, __global const float *extent,
                                  const uint columns, __global ulong *keys, __global uint *ids,
                                  __global uint *totals, __global uint *states)
{
    __local uint scratch[256], counts[MOVES * DIGITS];
    __local float found[16];
    const uint own = get_local_id(0), lane = own % WARP, warp = own / WARP;
    for (uint k = own; k < MOVES * DIGITS; k += 256)
        counts[k] = 0;
    for (uint i = get_global_id(0); i < (n + TILE - 1) / TILE * (MOVES * DIGITS); i += get_global_size(0))
        states[i] = 0;
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
        const ulong key = curve(grid_cell(t.x, shift.x, open_ended), grid_cell(t.y, shift.y, open_ended),
                                grid_cell(t.z, shift.z, open_ended));
        keys[i] = key;
        ids[i] = i;
        for (uint move = 0; move < MOVES; ++move)
            atomic_inc(&counts[move * DIGITS + digit_of(key, move)]);
    }
    barrier(LOCAL);
    for (uint k = own; k < MOVES * DIGITS; k += 256)
        if (counts[k] > 0)
            atomic_add(&totals[k], counts[k]);
}

// Flags of a state, which tells how many keys with a digit there are: COUNTED means the number of the tile, SUMMED the
// number of the tile and all tiles before it. A state is the flag plus the number; it is 0 until the tile is counted.
#define COUNTED (1u << 30)
#define SUMMED (2u << 30)
// Number of states that a work-item reads at a time.
#define STATES_AT_ONCE 8
// Number of times that a work-item waits, for all tiles together, before it counts the keys of tiles itself.
#define MOST_WAITS 1000

// Returns how many keys with the digit `own` the tiles before `tile` have. Reads the states of the earlier tiles,
// the nearest first, up to the first one that includes all tiles before it.
uint count_before(uint tile, uint own, uint move, volatile __global const uint *states, __global const ulong *keys)
{
    uint sum = 0, waits = 0;
    for (int next = (int)tile - 1; next >= 0;) {
        uint found[STATES_AT_ONCE];
#pragma unroll
        for (int k = 0; k < STATES_AT_ONCE; ++k)
            found[k] = next >= k ? states[(next - k) * DIGITS + own] : SUMMED;
        int known = 0;
        bool ends = false, waiting = false;
#pragma unroll
        for (int k = 0; k < STATES_AT_ONCE; ++k) {
            waiting |= found[k] == 0;
            if (!waiting && !ends) {
                sum += found[k] & (COUNTED - 1);
                ends = (found[k] & SUMMED) != 0;
                ++known;
            }
        }
        if (ends)
            break;
        next -= known;
        if (waiting && ++waits > MOST_WAITS) {
            for (uint k = 0; k < TILE; ++k)
                sum += digit_of(keys[next * TILE + k], move) == own;
            --next;
        }
    }
    return sum;
}

// Moves the keys and ids to their places in the order of a digit; the move of number `move` is for the digit of that
// number. Keys with equal digits keep their order. Each work-group moves a tile: it sorts the tile in local memory
// first, so that neighbours are written together. `totals` holds, for each move, how many keys have each value of the
// digit, and then, for each move, how many work-groups have begun. The work-groups take the tiles in the order in which
// they begin, so that they wait only for work-groups that run. They exchange counts through `states`, so that one
// kernel suffices for a move (Merrill and Garland 2016, NVIDIA technical report NVR-2016-002; Adinets and Merrill 2022,
// arXiv:2206.01784).
__kernel __attribute__((reqd_work_group_size(SORTERS, 1, 1))) void
scatter(const uint n, const uint move, const uint tiles, __global uint *totals, volatile __global uint *states,
        __global const ulong *restrict keys, __global const uint *restrict ids, __global ulong *restrict sorted,
        __global uint *restrict sorted_ids)
{
    __local ulong tile_keys[TILE];
    __local ushort places[SORTERS / WARP][DIGITS];
    __local uint starts[DIGITS], sums[SORTERS / WARP], scratch[SORTERS], begun;
    __local uint *tile_ids = (__local uint *)tile_keys;
    const uint own = get_local_id(0), lane = own % WARP, warp = own / WARP;
    const uint before_lane = (1u << lane) - 1;
    const bool has_digit = own < DIGITS;
    if (own == 0)
        begun = atomic_inc(&totals[MOVES * DIGITS + move]);
    for (uint k = lane; k < DIGITS; k += WARP)
        places[warp][k] = 0;
    uint all;
    const uint base = scan_group(has_digit ? totals[move * DIGITS + own] : 0, sums, &all, scratch);
    barrier(LOCAL);
    const uint tile = begun;

    // Computes the rank of each key among the keys of its warp with the same digit.
    ulong key[OWN_KEYS];
    uint id[OWN_KEYS], place[OWN_KEYS];
    volatile __local ushort *next = places[warp];
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
        const uint digit = digit_of(key[k], move);
        uint peers = ballot(inside, scratch);
        for (uint b = 0; b < DIGIT_BITS; ++b) {
            const bool is_set = (digit >> b & 1) != 0;
            const uint set = ballot(is_set, scratch);
            peers &= is_set ? set : ~set;
        }
        const uint earlier = next[digit], nth = popcount(peers & before_lane);
        sync_warp();
        if (inside && nth == 0)
            next[digit] = earlier + popcount(peers);
        sync_warp();
        place[k] = earlier + nth;
    }
    barrier(LOCAL);
    // Each of the first work-items takes the digit `own`, and computes where the keys with this digit begin in the
    // sorted tile, for the whole tile and for each warp.
    states += (size_t)move * tiles * DIGITS;
    uint count = 0;
    for (uint k = 0; k < SORTERS / WARP; ++k)
        count += has_digit ? places[k][own] : 0;
    if (has_digit)
        states[tile * DIGITS + own] = (tile == 0 ? SUMMED : COUNTED) + count;
    const uint begin = scan_group(count, sums, &all, scratch);
    if (has_digit) {
        uint start = begin;
        for (uint k = 0; k < SORTERS / WARP; ++k) {
            const uint keys_of_warp = places[k][own];
            places[k][own] = start;
            start += keys_of_warp;
        }
    }
    barrier(LOCAL);
#pragma unroll
    for (uint k = 0; k < OWN_KEYS; ++k) {
        place[k] += places[warp][digit_of(key[k], move)];
        if (first + k * WARP < n)
            tile_keys[place[k]] = key[k];
    }
    if (has_digit) {
        const uint earlier_keys = count_before(tile, own, move, states, keys);
        states[tile * DIGITS + own] = SUMMED + earlier_keys + count;
        starts[own] = base + earlier_keys - begin;
    }
    barrier(LOCAL);
    const uint keys_in_tile = min((uint)TILE, n - tile * TILE);
    uint to[OWN_KEYS];
#pragma unroll
    for (uint k = 0; k < OWN_KEYS; ++k) {
        const uint from = own + k * SORTERS;
        if (from < keys_in_tile) {
            const ulong moving = tile_keys[from];
            to[k] = starts[digit_of(moving, move)] + from;
            sorted[to[k]] = moving;
        }
    }
    barrier(LOCAL);
#pragma unroll
    for (uint k = 0; k < OWN_KEYS; ++k)
        if (first + k * WARP < n)
            tile_ids[place[k]] = id[k];
    barrier(LOCAL);
#pragma unroll
    for (uint k = 0; k < OWN_KEYS; ++k)
        if (own + k * SORTERS < keys_in_tile)
            sorted_ids[to[k]] = tile_ids[own + k * SORTERS];
}
