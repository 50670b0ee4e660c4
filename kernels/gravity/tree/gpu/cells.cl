// Copies the bodies in the order of their keys, creates the cells of the tree on a GPU, level by level, and computes the
// moments of their masses.
//
// Two neighbours in the sorted order share the levels in which their keys agree. A cell of more than LEAF bodies has
// children. So a body is the first body of one cell on each level of a range. The range begins after the levels that
// the body shares with the body before it. It ends one level after the deepest level that is shared by LEAF + 1
// consecutive bodies, including this body. The cells of a level have consecutive ids, in the order of their bodies, so
// the ids of a cell's children are consecutive.

#define INNER 0x80000000u
#define NONE 0xffffffffu

// Number of rows of a cell: (centre of mass, mass), (yz, radius, first, count) and (xx, xy, xz, yy). `first` and
// `count` are the bits of integers: the id of the first child or the index of the first body, and the number of
// children (with the flag INNER) or bodies. xx to yz are the quadrupole Σ m (3 x xᵀ − x² 1) / (M r²): divided by M r²,
// moments stay within the range of a float for any units. Without quadrupoles (ORDER 0) they are zero.
#define ROWS 3

// Number of ranks of bodies by cost, the number of bodies and cells that acted on a body. The first rank has the
// highest costs; from rank to rank, the cost halves.
#define RANKS 8

// Returns the rank of a body, given the number of bodies and cells that acted on it.
uchar rank_of(float cost)
{
    return (uchar)clamp(14.0f - log2(cost), 0.0f, RANKS - 1.0f);
}

// Returns how many levels of the tree two bodies share, given their keys.
uint shared_levels(ulong a, ulong b)
{
    return a == b ? LEVELS : (uint)(clz(a ^ b) - (64 - 3 * LEVELS)) / 3;
}

// Sets `count` to the number of lanes of the warp whose body begins a cell of a level. Each lane gets the count of the
// level with the lane's number.
void count_levels(uint from, uint to, uint lane, uint *count, __local uint *scratch)
{
    for (uint level = 0; level <= LEVELS; ++level) {
        const uint bits = ballot(from <= level && level <= to, scratch);
        if (lane == level)
            *count = popcount(bits);
    }
}

// Bodies that share a walk form a group: at most GROUP bodies. The levels of neighbouring leaves in a group differ by
// at most 1, so that bodies of dense and of sparse regions are in different groups. Each body whose index is a multiple
// of GROUP begins a group. A leaf that is larger than the leaves of evenly spread bodies also begins a group.
// Otherwise, a group of such leaves could surround a dense cell, whose bodies would then all act one by one.
//
// Returns whether body i begins a group; `level` is the level of its leaf, and `first` the level of the largest cell
// that the body begins.
bool begins_group(uint i, uint n, uint first, uint level, uint level_before)
{
    const uint even_level = (31 - clz(max(n / LEAF, 1u))) / 3;
    const bool differs = abs((int)level - (int)level_before) > 1;
    return i < n && (i % GROUP == 0 || differs || (level < even_level && first <= level));
}

// Returns the rank of the group that body i begins, from the rank of the body. If costs are unknown, groups that begin
// at multiples of GROUP come last: most of the others lie in dense regions and have the longest walks.
uint rank_of_group(uint i, uint has_costs, uint rank)
{
    return has_costs ? rank : i % GROUP == 0;
}

// Sets `count` to the number of lanes of the warp whose body begins a group of a rank. Rank r is counted in lane LEVELS
// + 1 + r, since the lanes before count the levels. Returns how many earlier lanes begin a group of the rank `rank`.
uint count_ranks(bool begins, uint rank, uint lane, uint *count, __local uint *scratch)
{
    uint earlier = 0;
    for (uint r = 0; r < RANKS; ++r) {
        const uint bits = ballot(begins && rank == r, scratch);
        if (lane == LEVELS + 1 + r)
            *count = popcount(bits);
        if (rank == r)
            earlier = popcount(bits & ((1u << lane) - 1));
    }
    return earlier;
}

// Copies the bodies, and the magnitude of the last acceleration of each, in the order of the keys. With `has_costs`,
// also computes the rank of each body from the fourth number of `sums`, the number of bodies and cells that acted on
// the body in the last walk. Finds the range of levels, `from` to `to`, of the cells that each body begins. Counts
// these cells by level, and the groups by rank, for each block of 256 bodies.
__kernel GROUP_256 void mark(const uint n, const uint blocks, const uint has_costs, __global const ulong *keys,
                             __global const uint *ids, __global const float4 *x, __global const float *last,
                             __global const float4 *sums, __global float4 *bodies, __global float *least,
                             __global uchar *ranks, __global uchar *from, __global uchar *to, __global uint *counts)
{
    __local ulong near[256 + 2 * LEAF];
    __local int windows[256 + LEAF];
    __local uint by_warp[8][WARP], scratch[256], ends[256];
    const uint own = get_local_id(0), lane = own % WARP, warp = own / WARP, block = get_group_id(0);
    const uint i = get_global_id(0), id = i < n ? ids[i] : 0;
    const float4 body = x[id];
    const float size = last[id];
    const uint rank = has_costs ? rank_of(sums[id].w) : 0;
    const int start = (int)(block * 256) - LEAF;
    for (int k = own; k < 256 + 2 * LEAF; k += 256)
        near[k] = start + k >= 0 && start + k < (int)n ? keys[start + k] : 0;
    barrier(LOCAL);
    for (int k = own; k < 256 + LEAF; k += 256)
        windows[k] = start + k >= 0 && start + k + LEAF < (int)n ? (int)shared_levels(near[k], near[k + LEAF]) : -1;
    barrier(LOCAL);
    int deepest = -1;
    for (int k = 0; k <= LEAF; ++k)
        deepest = max(deepest, windows[own + k]);
    uint end = min(deepest + 1, LEVELS);
    uint first = i > 0 ? shared_levels(near[own + LEAF - 1], near[own + LEAF]) + 1 : 0;
    if (i >= n) {
        first = 1;
        end = 0;
    }
    if (i < n) {
        bodies[i] = body;
        least[i] = size;
        ranks[i] = rank;
        from[i] = first;
        to[i] = end;
    }
    ends[own] = end;
    uint count = 0;
    count_levels(first, end, lane, &count, scratch);
    barrier(LOCAL);
    const bool begins = begins_group(i, n, first, end, ends[max(own, 1u) - 1]);
    count_ranks(begins, rank_of_group(i, has_costs, rank), lane, &count, scratch);
    by_warp[warp][lane] = count;
    barrier(LOCAL);
    if (own <= LEVELS + RANKS) {
        uint sum = 0;
        for (uint k = 0; k < 8; ++k)
            sum += by_warp[k][own];
        counts[own * blocks + block] = sum;
    }
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

// Writes the first body and the first child of each cell, and the first body and the size of each group. Writes to
// `levels` the first id of each level, then the number of cells, then the number of groups. Groups are in the order of
// their ranks, so that the longest walks begin first.
__kernel GROUP_256 void emit(const uint n, const uint blocks, const uint has_costs, const uint room, __global const uchar *ranks,
                             __global const uchar *from, __global const uchar *to, __global const uint *counts,
                             __global const uint *totals,
                             __global uint *levels, __global uint *first_body, __global uint *first_child,
                             __global uint2 *groups)
{
    __local uint next[8][WARP], scratch[256], begins[8];
    const uint own = get_local_id(0), lane = own % WARP, warp = own / WARP, block = get_group_id(0);
    const uint i = get_global_id(0);
    const uint first = i < n ? from[i] : 1, last = i < n ? to[i] : 0;
    uint count = 0;
    count_levels(first, last, lane, &count, scratch);
    const bool begins_one = begins_group(i, n, first, last, i % 256 > 0 && i < n ? to[i - 1] : 0);
    const uint own_begins = ballot(begins_one, scratch);
    const uint rank = rank_of_group(i, has_costs, has_costs && i < n ? ranks[i] : 0);
    const uint earlier = count_ranks(begins_one, rank, lane, &count, scratch);
    if (lane == 0)
        begins[warp] = own_begins;
    next[warp][lane] = count;
    barrier(LOCAL);
    // All warps compute the prefix sums, since `scan_warp` may contain a barrier. Only the first warp writes the
    // results.
    const uint in_level = lane <= LEVELS ? totals[lane] : 0;
    const uint in_rank = lane > LEVELS && lane <= LEVELS + RANKS ? totals[lane] : 0;
    uint id = scan_warp(in_level, lane, scratch) - in_level;
    const uint group = scan_warp(in_rank, lane, scratch) - in_rank, groups_in_all = shuffle_(group, WARP - 1, scratch);
    barrier(LOCAL);
    if (warp == 0) {
        if (block == 0)
            levels[lane] = lane == LEVELS + 2 ? groups_in_all : id;
        id = lane > LEVELS ? group : id;
        if (lane <= LEVELS + RANKS) {
            id += counts[lane * blocks + block];
            for (uint k = 0; k < 8; ++k) {
                const uint cells = next[k][lane];
                next[k][lane] = id;
                id += cells;
            }
        }
    }
    barrier(LOCAL);
    if (begins_one) {
        // This group ends where the next group begins, at the latest at the next multiple of GROUP.
        const uint later = own_begins & ~((2u << lane) - 1), beyond = warp % 2 == 0 ? begins[warp + 1] : 0;
        const uint after = later ? popcount((later & -later) - 1) : WARP + (beyond ? popcount((beyond & -beyond) - 1) : WARP);
        const uint end = min(min(i - lane + after, n), i - i % GROUP + GROUP);
        groups[next[warp][LEVELS + 1 + rank] + earlier] = (uint2)(i, end - i);
    }
    uint child = NONE;
    for (int level = LEVELS; level >= 0; --level) {
        const bool begins = first <= (uint)level && (uint)level <= last;
        const uint bits = ballot(begins, scratch);
        if (begins) {
            const uint cell = next[warp][level] + popcount(bits & ((1u << lane) - 1));
            if (cell < room) {
                first_body[cell] = i;
                first_child[cell] = child;
            }
            child = cell;
        }
    }
}

// Writes the values of a cell. `q` are the moments Σ (m / M) x xᵀ for the six pairs of coordinates; they are unused
// without quadrupoles.
void store_cell(uint id, float4 centre, float radius, const float *q, uint first, uint count, __global float4 *cells,
                __global float *traces)
{
#if ORDER >= 2
    const float scale = radius > 0.0f ? 1.0f / radius : 0.0f;
    const float trace = q[0] + q[3] + q[5];
#define SCALED(moment) ((moment) * scale * scale)
#else
#define SCALED(moment) 0.0f
#endif
    cells[ROWS * id] = centre;
    cells[ROWS * id + 1] = (float4)(SCALED(3.0f * q[4]), radius, as_float(first), as_float(count));
    cells[ROWS * id + 2] = (float4)(SCALED(3.0f * q[0] - trace), SCALED(3.0f * q[1]), SCALED(3.0f * q[2]),
                                    SCALED(3.0f * q[3] - trace));
    traces[id] = SCALED(trace);
#undef SCALED
}

// Returns the sum of the values of eight neighbouring lanes.
float sum_of_eight(float value, uint lane, __local uint *scratch)
{
    for (uint step = 1; step < 8; step *= 2)
        value += shuffle_float(value, lane ^ step, scratch);
    return value;
}

// Returns the largest of the values of eight neighbouring lanes.
float most_of_eight(float value, uint lane, __local uint *scratch)
{
    for (uint step = 1; step < 8; step *= 2)
        value = fmax(value, shuffle_float(value, lane ^ step, scratch));
    return value;
}

// Returns the sum of the vectors of eight neighbouring lanes.
float3 sum3_of_eight(float3 value, uint lane, __local uint *scratch)
{
    return (float3)(sum_of_eight(value.x, lane, scratch), sum_of_eight(value.y, lane, scratch),
                    sum_of_eight(value.z, lane, scratch));
}

// Returns the largest of each coordinate of the vectors of eight neighbouring lanes.
float3 most3_of_eight(float3 value, uint lane, __local uint *scratch)
{
    return (float3)(most_of_eight(value.x, lane, scratch), most_of_eight(value.y, lane, scratch),
                    most_of_eight(value.z, lane, scratch));
}

// Returns for how many of eight neighbouring lanes the condition holds.
uint count_of_eight(bool condition, uint lane, __local uint *scratch)
{
    return popcount(ballot(condition, scratch) >> (lane & ~7u) & 0xff);
}

// Links the inner cells to their children, and computes the moments and boxes of the leaves. Eight neighbouring lanes
// process a cell: each takes every eighth body.
__kernel GROUP_256 void make_cells(const uint n, const uint room, __global const ulong *keys,
                                   __global const float4 *bodies, __global const uint *levels,
                                   __global const uint *first_body, __global const uint *first_child,
                                   __global float4 *cells, __global float *traces, __global float4 *boxes)
{
    __local uint scratch[256];
    const uint own_cell = get_local_id(0) / 8, lane = get_local_id(0) % WARP, nth = lane % 8;
    const uint all = min(levels[LEVELS + 1], room);
    for (uint start = get_group_id(0) * (256 / 8); start < all; start += get_num_groups(0) * (256 / 8)) {
        // Work-items without a cell must take part in the exchanges too.
        const bool inside = start + own_cell < all;
        const uint id = inside ? start + own_cell : start;
        uint level = 0;
        while (level < LEVELS && id >= levels[level + 1])
            ++level;
        const uint begin = first_body[id], child = first_child[id], shift = 3 * (LEVELS - level);
        const ulong own = keys[begin] >> shift;
        const bool inner = child != NONE;
        const uint other = child + nth, end_of_level = inner ? min(levels[level + 2], room) : 0;
        const bool is_child = inner && (nth == 0 || (other < end_of_level && keys[first_body[other]] >> shift == own));
        const uint children = count_of_eight(is_child, lane, scratch);
        uint end = begin;
        for (uint k = 0; k < LEAF; k += 8)
            end += count_of_eight(!inner && end + nth < n && keys[end + nth] >> shift == own, lane, scratch);
        // Only leaves of the deepest level may have more than LEAF bodies.
        if (level == LEVELS)
            while (end < n && keys[end] >> shift == own)
                ++end;
        const float4 from = bodies[begin];
        float3 low = from.xyz, high = from.xyz;
        float mass = 0.0f;
#pragma unroll 4
        for (uint j = begin + nth; j < end; j += 8) {
            const float4 p = bodies[j];
            low = fmin(low, p.xyz);
            high = fmax(high, p.xyz);
            mass += p.w;
        }
        mass = sum_of_eight(mass, lane, scratch);
        const float part = mass > 0.0f ? 1.0f / mass : 0.0f;
        float3 offset = (float3)(0.0f);
#pragma unroll 4
        for (uint j = begin + nth; j < end; j += 8)
            offset += bodies[j].w * part * (bodies[j].xyz - from.xyz);
        const float4 centre = (float4)(from.xyz + sum3_of_eight(offset, lane, scratch), mass);
        float most = 0.0f, q[6] = { 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f };
#pragma unroll 4
        for (uint j = begin + nth; j < end; j += 8) {
            const float3 d = bodies[j].xyz - centre.xyz;
            const float m = bodies[j].w * part;
            most = fmax(most, dot(d, d));
            q[0] += m * d.x * d.x;
            q[1] += m * d.x * d.y;
            q[2] += m * d.x * d.z;
            q[3] += m * d.y * d.y;
            q[4] += m * d.y * d.z;
            q[5] += m * d.z * d.z;
        }
#pragma unroll
        for (uint k = 0; k < 6; ++k)
            q[k] = sum_of_eight(q[k], lane, scratch);
        most = most_of_eight(most, lane, scratch);
        const float3 lowest = -most3_of_eight(-low, lane, scratch), highest = most3_of_eight(high, lane, scratch);
        if (!inside || nth > 0)
            continue;
        if (inner) {
            cells[ROWS * id + 1] = (float4)(0.0f, 0.0f, as_float(child), as_float(children | INNER));
        } else {
            store_cell(id, centre, sqrt(most), q, begin, end - begin, cells, traces);
            boxes[2 * id] = (float4)(lowest, 0.0f);
            boxes[2 * id + 1] = (float4)(highest, 0.0f);
        }
    }
}

// Computes the moments and box of a cell from those of its children. Eight neighbouring lanes take one child each.
// Writes the cell if `inner` is set. `link` is the cell's second row, with its first child and number of children.
void lift_cell(uint id, bool inner, float4 link, __global float4 *cells, __global float *traces, __global float4 *boxes,
               __local uint *scratch)
{
    const uint lane = get_local_id(0) % WARP, child = lane % 8;
    const uint first = as_uint(link.z), count = as_uint(link.w) & ~INNER;
    const bool taken = inner && child < count;
    // Lanes without a child read the first child, but use a mass of 0.
    const uint c = inner ? first + (taken ? child : 0) : id;
    const float4 other = cells[ROWS * c], b = cells[ROWS * c + 1], d = cells[ROWS * c + 2];
    const float4 lowest = boxes[2 * c], highest = boxes[2 * c + 1];
    const float trace = traces[c];
    const float mass = sum_of_eight(taken ? other.w : 0.0f, lane, scratch);
    const float m = taken && mass > 0.0f ? other.w * (1.0f / mass) : 0.0f;
    const float3 from = (float3)(shuffle_float(other.x, lane - child, scratch),
                                 shuffle_float(other.y, lane - child, scratch),
                                 shuffle_float(other.z, lane - child, scratch));
    const float3 offset = m * (other.xyz - from);
    const float3 centre = from + sum3_of_eight(offset, lane, scratch);
    const float3 high = most3_of_eight(highest.xyz, lane, scratch), low = -most3_of_eight(-lowest.xyz, lane, scratch);
    const float3 x = other.xyz - centre;
    // Recovers the child's second moments: a third of the traceless quadrupole, plus the trace that was subtracted from
    // its diagonal.
    const float own = m * b.y * b.y / 3.0f;
    float q[6] = { m * x.x * x.x + own * (d.x + trace), m * x.x * x.y + own * d.y, m * x.x * x.z + own * d.z,
                   m * x.y * x.y + own * (d.w + trace), m * x.y * x.z + own * b.x,
                   m * x.z * x.z + own * (trace - d.x - d.w) };
#pragma unroll
    for (uint k = 0; k < 6; ++k)
        q[k] = sum_of_eight(q[k], lane, scratch);
    const float radius = most_of_eight(length(x) + b.y, lane, scratch);
    if (inner && child == 0) {
        // No body is farther from the centre than the farthest corner of the box.
        const float3 corner = fmax(high - centre, centre - low);
        store_cell(id, (float4)(centre, mass), fmin(radius, length(corner)), q, first, count | INNER, cells, traces);
        boxes[2 * id] = (float4)(low, 0.0f);
        boxes[2 * id + 1] = (float4)(high, 0.0f);
    }
}

// Computes the moments and boxes of the inner cells of a level and of the level below it. A work-group processes a cell
// and its children: eight work-items for each child, then eight for the cell.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
lift(const uint level, const uint room, __global const uint *levels, __global float4 *cells, __global float *traces,
     __global float4 *boxes)
{
    __local uint scratch[64];
    const uint nth = get_local_id(0) / 8, end = min(levels[level + 1], room);
    for (uint id = levels[level] + get_group_id(0); id < end; id += get_num_groups(0)) {
        const float4 link = cells[ROWS * id + 1];
        if (!(as_uint(link.w) & INNER))
            continue;
        const bool has_child = nth < (as_uint(link.w) & ~INNER);
        const uint child = as_uint(link.z) + (has_child ? nth : 0);
        const float4 below = cells[ROWS * child + 1];
        lift_cell(child, has_child && (as_uint(below.w) & INNER), below, cells, traces, boxes, scratch);
        barrier(CLK_GLOBAL_MEM_FENCE);
        lift_cell(id, nth == 0, link, cells, traces, boxes, scratch);
    }
}
