// The cells of the tree, level by level, and the moments of their masses.
//
// Two neighbouring bodies share a number of levels: those in which their keys agree. A cell of more than LEAF bodies has
// children. So a body begins cells from the level after those that it shares with the body before it, down to the level
// after the deepest one that LEAF + 1 bodies in a row around it share. Cells of one level have consecutive ids, in the
// order of the bodies, hence so have the children of a cell.

#define INNER 0x80000000u
#define NONE 0xffffffffu

// A cell takes three rows: (centre of mass, mass), (yz, radius, first, count) and (xx, xy, xz, yy). `first` and `count`
// are bits: of the first child or body, and how many there are, with INNER for children. xx to yz are the quadrupole
// Σ m (3 x xᵀ − x² 1) / (M r²): divided by M r², moments stay within the range of a float for any units. Without
// quadrupoles (ORDER 0) they are zero.
#define ROWS 3

uint shared_levels(ulong a, ulong b)
{
    return a == b ? LEVELS : (uint)(clz(a ^ b) - (64 - 3 * LEVELS)) / 3;
}

// Adds to `count`, in the lane of each level, how many lanes of the warp begin a cell of that level.
void count_levels(uint from, uint to, uint lane, uint *count, __local uint *scratch)
{
    for (uint level = 0; level <= LEVELS; ++level) {
        const uint bits = ballot(from <= level && level <= to, scratch);
        if (lane == level)
            *count = popcount(bits);
    }
}

// Finds the levels of the cells that each body begins, and counts them by blocks of 256 bodies.
__kernel GROUP_256 void mark(const uint n, const uint blocks, __global const ulong *keys, __global uchar *from,
                             __global uchar *to, __global uint *counts)
{
    __local ulong near[256 + 2 * LEAF];
    __local int windows[256 + LEAF];
    __local uint by_warp[8][WARP], scratch[256];
    const uint own = get_local_id(0), lane = own % WARP, warp = own / WARP, block = get_group_id(0);
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
    const uint i = get_global_id(0);
    uint last = min(deepest + 1, LEVELS);
    uint first = i > 0 ? shared_levels(near[own + LEAF - 1], near[own + LEAF]) + 1 : 0;
    if (i >= n) {
        first = 1;
        last = 0;
    }
    if (i < n) {
        from[i] = first;
        to[i] = last;
    }
    uint count = 0;
    count_levels(first, last, lane, &count, scratch);
    by_warp[warp][lane] = count;
    barrier(LOCAL);
    if (own <= LEVELS) {
        uint sum = 0;
        for (uint k = 0; k < 8; ++k)
            sum += by_warp[k][own];
        counts[own * blocks + block] = sum;
    }
}

// Writes the first body and the first child of each cell. `levels` gets the first id of each level, and the number of
// cells after the last.
__kernel GROUP_256 void emit(const uint n, const uint blocks, const uint room, __global const uchar *from,
                             __global const uchar *to, __global const uint *counts, __global const uint *totals,
                             __global uint *levels, __global uint *first_body, __global uint *first_child)
{
    __local uint next[8][WARP], scratch[256];
    const uint own = get_local_id(0), lane = own % WARP, warp = own / WARP, block = get_group_id(0);
    const uint i = get_global_id(0);
    const uint first = i < n ? from[i] : 1, last = i < n ? to[i] : 0;
    uint count = 0;
    count_levels(first, last, lane, &count, scratch);
    next[warp][lane] = count;
    barrier(LOCAL);
    // All warps scan, since a barrier may be part of a scan; the first one writes.
    const uint in_level = lane <= LEVELS ? totals[lane] : 0;
    uint id = scan_warp(in_level, lane, scratch) - in_level;
    barrier(LOCAL);
    if (warp == 0) {
        if (block == 0)
            levels[lane] = id;
        if (lane <= LEVELS) {
            id += counts[lane * blocks + block];
            for (uint k = 0; k < 8; ++k) {
                const uint cells = next[k][lane];
                next[k][lane] = id;
                id += cells;
            }
        }
    }
    barrier(LOCAL);
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

// Writes a cell. `q` are Σ (m / M) x xᵀ for the six pairs of coordinates, unused without quadrupoles.
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

// Links the inner cells to their children, and computes the moments and boxes of the leaves.
__kernel GROUP_256 void make_cells(const uint n, const uint room, __global const ulong *keys,
                                   __global const float4 *bodies, __global const uint *levels,
                                   __global const uint *first_body, __global const uint *first_child,
                                   __global float4 *cells, __global float *traces, __global float4 *boxes)
{
    const uint all = min(levels[LEVELS + 1], room);
    for (uint id = get_global_id(0); id < all; id += get_global_size(0)) {
        uint level = 0;
        while (level < LEVELS && id >= levels[level + 1])
            ++level;
        const uint begin = first_body[id], child = first_child[id], shift = 3 * (LEVELS - level);
        const ulong own = keys[begin] >> shift;
        if (child != NONE) {
            uint count = 1;
            const uint end = min(levels[level + 2], room);
            while (count < 8 && child + count < end && keys[first_body[child + count]] >> shift == own)
                ++count;
            cells[ROWS * id + 1] = (float4)(0.0f, 0.0f, as_float(child), as_float(count | INNER));
            continue;
        }
        const float4 from = bodies[begin];
        float4 low = from, high = from;
        float mass = 0.0f;
        uint end = begin;
        do {
            const float4 p = bodies[end];
            low = fmin(low, p);
            high = fmax(high, p);
            mass += p.w;
            ++end;
        } while (end < n && keys[end] >> shift == own);
        const float part = mass > 0.0f ? 1.0f / mass : 0.0f;
        float3 offset = (float3)(0.0f);
        for (uint j = begin; j < end; ++j)
            offset += bodies[j].w * part * (bodies[j].xyz - from.xyz);
        const float4 centre = (float4)(from.xyz + offset, mass);
        float most = 0.0f, q[6] = { 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f };
        for (uint j = begin; j < end; ++j) {
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
        store_cell(id, centre, sqrt(most), q, begin, end - begin, cells, traces);
        boxes[2 * id] = low;
        boxes[2 * id + 1] = high;
    }
}

// Computes the moments and box of an inner cell from those of its children; `link` is the second row of the cell.
void lift_cell(uint id, float4 link, __global float4 *cells, __global float *traces, __global float4 *boxes)
{
    const uint first = as_uint(link.z), count = as_uint(link.w) & ~INNER;
    float mass = 0.0f;
    for (uint c = first; c < first + count; ++c)
        mass += cells[ROWS * c].w;
    const float part = mass > 0.0f ? 1.0f / mass : 0.0f;
    const float4 from = cells[ROWS * first];
    float3 offset = (float3)(0.0f);
    float4 low = boxes[2 * first], high = boxes[2 * first + 1];
    for (uint c = first + 1; c < first + count; ++c) {
        const float4 other = cells[ROWS * c];
        offset += other.w * part * (other.xyz - from.xyz);
        low = fmin(low, boxes[2 * c]);
        high = fmax(high, boxes[2 * c + 1]);
    }
    const float4 centre = (float4)(from.xyz + offset, mass);
    float radius = 0.0f, q[6] = { 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f };
    for (uint c = first; c < first + count; ++c) {
        const float4 other = cells[ROWS * c], b = cells[ROWS * c + 1], d = cells[ROWS * c + 2];
        const float3 x = other.xyz - centre.xyz;
        const float m = other.w * part, trace = traces[c];
        // A third of the traceless quadrupole, and the trace that was taken from its diagonal.
        const float own = m * b.y * b.y / 3.0f;
        radius = fmax(radius, length(x) + b.y);
        q[0] += m * x.x * x.x + own * (d.x + trace);
        q[1] += m * x.x * x.y + own * d.y;
        q[2] += m * x.x * x.z + own * d.z;
        q[3] += m * x.y * x.y + own * (d.w + trace);
        q[4] += m * x.y * x.z + own * b.x;
        q[5] += m * x.z * x.z + own * (trace - d.x - d.w);
    }
    // No body is farther than the farthest corner of the box.
    const float3 corner = fmax(high.xyz - centre.xyz, centre.xyz - low.xyz);
    store_cell(id, centre, fmin(radius, length(corner)), q, first, count | INNER, cells, traces);
    boxes[2 * id] = low;
    boxes[2 * id + 1] = high;
}

// Computes the moments and boxes of the inner cells of a level and of the level below it. Eight work-items take a cell:
// each computes one of its children.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
lift(const uint level, const uint room, __global const uint *levels, __global float4 *cells, __global float *traces,
     __global float4 *boxes)
{
    const uint nth = get_local_id(0) / 8, child = get_local_id(0) % 8, end = min(levels[level + 1], room);
    // All work-items of a group make the same number of turns, because each turn contains a barrier.
    for (uint start = levels[level] + 8 * get_group_id(0); start < end; start += 8 * get_num_groups(0)) {
        const uint id = start + nth;
        const float4 link = cells[ROWS * min(id, end - 1) + 1];
        const bool inner = id < end && (as_uint(link.w) & INNER);
        if (inner && child < (as_uint(link.w) & ~INNER)) {
            const float4 below = cells[ROWS * (as_uint(link.z) + child) + 1];
            if (as_uint(below.w) & INNER)
                lift_cell(as_uint(link.z) + child, below, cells, traces, boxes);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (inner && child == 0)
            lift_cell(id, link, cells, traces, boxes);
    }
}

// Divides the bodies into groups that share a walk: chunks of GROUP bodies, cut where the level of the leaves changes, so
// that the bodies of a group are about equally far from each other. The first group of chunk c is group c; the others follow
// after all chunks, in any order.
__kernel void make_groups(const uint n, const uint chunks, __global const uchar *to, __global uint2 *groups,
                          __global uint *count)
{
    const uint chunk = get_global_id(0);
    if (chunk >= chunks)
        return;
    const uint end = min((chunk + 1) * GROUP, n);
    uint begin = chunk * GROUP, at = chunk;
    for (uint i = begin + 1; i <= end; ++i) {
        if (i < end && to[i] == to[begin])
            continue;
        groups[at] = (uint2)(begin, i - begin);
        if (i < end)
            at = chunks + atomic_inc(count);
        begin = i;
    }
}
