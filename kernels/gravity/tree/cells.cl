// The cells of the tree: ranges of the sorted bodies, with the moments of their masses.
//
// A cell is split where its bodies share the fewest levels. One task creates the cells of more than TASK_BODIES bodies
// and their children. Each of the subtrees below is then created by one task. The children of a cell have consecutive
// ids, which are larger than the id of the cell.

// Columns of a cell: centre of mass, mass, largest distance of a body from the centre, and the quadrupole Σ m (3 x xᵀ −
// x² 1) / (M r²) without its last element, and Σ m x² / (M r²). Divided by M r², the moments stay within the range of a
// float for any unit of length and mass. Without quadrupoles (ORDER 0), cells have the first columns only.
enum { CELL_X, CELL_Y, CELL_Z, CELL_MASS, CELL_RADIUS, CELL_XX, CELL_XY, CELL_XZ, CELL_YY, CELL_YZ, CELL_TRACE };
#if ORDER >= 2
#define CELL_COLUMNS 11
#else
#define CELL_COLUMNS 5
#endif

// A cell's link packs the id of the first child, or the index of the first body in a leaf, the number of children or
// bodies, and the flag INNER of cells with children.
#define INNER 0x80000000u
#define LINK(first, count) ((first) << 6 | (count))
#define FIRST_OF(link) ((link) >> 6 & 0x1ffffffu)
#define COUNT_OF(link) ((link) & 63u)

// Maximum number of cells in the top of the tree. The ids in a subtree whose first body is b begin at TOP_CELLS + 2 b.
#define TOP_CELLS 4096
#define TASK_BODIES 2048
// Maximum number of cells that wait to be split. There are at most seven per level of the tree.
#define WAITING 2048

// Splits the cell of the bodies from `begin` to `end`. Writes the index of the first body of each child to `starts`,
// followed by `end`. Returns the number of children, 2 to 8.
uint split(__global const uchar *shared, uint begin, uint end, uint *starts)
{
    uchar16 least = (uchar16)(SAME);
    uint i = begin + 1;
    for (; i + 16 <= end; i += 16)
        least = min(least, vload16(0, shared + i));
    const uchar8 a = min(least.lo, least.hi);
    const uchar4 b = min(a.lo, a.hi);
    uchar level = min(min(b.x, b.y), min(b.z, b.w));
    for (; i < end; ++i)
        level = min(level, shared[i]);
    uint count = 0;
    if (level == SAME) {
        // The bodies cannot be told apart by their positions, so any division serves.
        count = min(8u, (end - begin + LEAF - 1) / LEAF);
        for (uint k = 0; k < count; ++k)
            starts[k] = begin + (uint)((ulong)(end - begin) * k / count);
    } else {
        starts[count++] = begin;
        for (i = begin + 1; i < end; i += 16) {
            uint bits = bits_of(convert_int16(vload16(0, shared + i)) == (int16)(level));
            if (end - i < 16)
                bits &= (1u << (end - i)) - 1;
            for (; bits != 0 && count < 8; bits &= bits - 1)
                starts[count++] = i + 31 - clz(bits & -bits);
        }
    }
    starts[count] = end;
    return count;
}

// Returns the largest distance of the bodies from `begin` to `end` from the point (x, y, z). `columns` are those of the
// bodies.
float radius_of(uint begin, uint end, float x, float y, float z, __global const float *columns, uint stride)
{
    float16 most = 0.0f;
    for (uint i = begin; i < end; i += 16) {
        const float16 dx = vload16(0, columns + i) - x;
        const float16 dy = vload16(0, columns + stride + i) - y;
        const float16 dz = vload16(0, columns + 2 * stride + i) - z;
        const float16 d2 = fma(dx, dx, fma(dy, dy, dz * dz));
        most = fmax(most, select((float16)(0.0f), d2, LANE < (int16)((int)(end - i))));
    }
    return sqrt(largest_of(most));
}

// Writes the values of a cell. `q` are the moments Σ (m / M) x xᵀ for the six pairs of coordinates; they are unused
// without quadrupoles.
void store_cell(__global float *cells, uint stride, uint id, float4 centre, float radius, const float *q)
{
#if ORDER >= 2
    const float scale = radius > 0.0f ? 1.0f / radius : 0.0f;
    const float trace = q[0] + q[3] + q[5];
#define SCALED(moment) ((moment) * scale * scale)
    const float values[CELL_COLUMNS] = { centre.x, centre.y, centre.z, centre.w, radius,
        SCALED(3.0f * q[0] - trace), SCALED(3.0f * q[1]), SCALED(3.0f * q[2]), SCALED(3.0f * q[3] - trace),
        SCALED(3.0f * q[4]), SCALED(trace) };
#undef SCALED
#else
    const float values[CELL_COLUMNS] = { centre.x, centre.y, centre.z, centre.w, radius };
#endif
    for (uint k = 0; k < CELL_COLUMNS; ++k)
        cells[k * stride + id] = values[k];
}

// Computes the moments of a leaf from its bodies, from `begin` to `end`, and writes the leaf.
void leaf_moments(uint begin, uint end, __global const float *columns, uint stride, __global float *cells,
                  uint cell_stride, uint id)
{
    float mass = 0.0f;
    for (uint i = begin; i < end; ++i)
        mass += columns[3 * stride + i];
    const float4 first = (float4)(columns[begin], columns[stride + begin], columns[2 * stride + begin], 0.0f);
    const float part = mass > 0.0f ? 1.0f / mass : 0.0f;
    float16 sx = 0.0f, sy = 0.0f, sz = 0.0f;
    for (uint i = begin; i < end; i += 16) {
        const int16 inside = LANE < (int16)((int)(end - i));
        const float16 m = select((float16)(0.0f), vload16(0, columns + 3 * stride + i) * part, inside);
        sx = fma(m, vload16(0, columns + i) - first.x, sx);
        sy = fma(m, vload16(0, columns + stride + i) - first.y, sy);
        sz = fma(m, vload16(0, columns + 2 * stride + i) - first.z, sz);
    }
    const float4 centre = (float4)(first.x + sum_of(sx), first.y + sum_of(sy), first.z + sum_of(sz), mass);
    float sums[6];
#if ORDER >= 2
    float16 q[6] = { 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f };
    for (uint i = begin; i < end; i += 16) {
        const int16 inside = LANE < (int16)((int)(end - i));
        const float16 m = select((float16)(0.0f), vload16(0, columns + 3 * stride + i) * part, inside);
        const float16 x = vload16(0, columns + i) - centre.x;
        const float16 y = vload16(0, columns + stride + i) - centre.y;
        const float16 z = vload16(0, columns + 2 * stride + i) - centre.z;
        q[0] = fma(m * x, x, q[0]);
        q[1] = fma(m * x, y, q[1]);
        q[2] = fma(m * x, z, q[2]);
        q[3] = fma(m * y, y, q[3]);
        q[4] = fma(m * y, z, q[4]);
        q[5] = fma(m * z, z, q[5]);
    }
    for (uint k = 0; k < 6; ++k)
        sums[k] = sum_of(q[k]);
#endif
    store_cell(cells, cell_stride, id, centre, radius_of(begin, end, centre.x, centre.y, centre.z, columns, stride), sums);
}

// Computes the moments of an inner cell from those of its children, and writes the cell. It contains the bodies from
// `begin` to `end`.
void inner_moments(uint begin, uint end, uint link, __global const float *columns, uint stride, __global float *cells,
                   uint cell_stride, uint id)
{
    const uint first = FIRST_OF(link), last = first + COUNT_OF(link);
#define OF(child, column) cells[(column) * cell_stride + (child)]
    float mass = 0.0f;
    for (uint c = first; c < last; ++c)
        mass += OF(c, CELL_MASS);
    const float part = mass > 0.0f ? 1.0f / mass : 0.0f;
    const float4 from = (float4)(OF(first, CELL_X), OF(first, CELL_Y), OF(first, CELL_Z), 0.0f);
    float4 centre = (float4)(from.xyz, mass);
    for (uint c = first + 1; c < last; ++c) {
        const float m = OF(c, CELL_MASS) * part;
        centre.x += m * (OF(c, CELL_X) - from.x);
        centre.y += m * (OF(c, CELL_Y) - from.y);
        centre.z += m * (OF(c, CELL_Z) - from.z);
    }
    float q[6] = { 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f };
#if ORDER >= 2
    for (uint c = first; c < last; ++c) {
        const float m = OF(c, CELL_MASS) * part, r = OF(c, CELL_RADIUS);
        const float x = OF(c, CELL_X) - centre.x, y = OF(c, CELL_Y) - centre.y, z = OF(c, CELL_Z) - centre.z;
        // Recovers the child's second moments: a third of the traceless quadrupole, plus the trace that was subtracted
        // from its diagonal.
        const float own = m * r * r / 3.0f, trace = OF(c, CELL_TRACE);
        const float xx = OF(c, CELL_XX), yy = OF(c, CELL_YY);
        q[0] += m * x * x + own * (xx + trace);
        q[1] += m * x * y + own * OF(c, CELL_XY);
        q[2] += m * x * z + own * OF(c, CELL_XZ);
        q[3] += m * y * y + own * (yy + trace);
        q[4] += m * y * z + own * OF(c, CELL_YZ);
        q[5] += m * z * z + own * (trace - xx - yy);
    }
#endif
#undef OF
    store_cell(cells, cell_stride, id, centre, radius_of(begin, end, centre.x, centre.y, centre.z, columns, stride), q);
}

// Creates the cells in the top of the tree, and lists the subtrees below as (first body, end of the bodies, id of the
// subtree's root, 0).
TASK void plant(const uint n, __global const uchar *shared, __global uint *links, __global uint2 *ranges,
                __global uint *counts, __global uint4 *subtrees)
{
    uint cells = 1, left = 0;
    ranges[0] = (uint2)(0, n);
    for (uint id = 0; id < cells; ++id) {
        const uint begin = ranges[id].x, end = ranges[id].y;
        if (end - begin <= TASK_BODIES || cells + 8 > TOP_CELLS) {
            links[id] = 0;
            subtrees[left++] = (uint4)(begin, end, id, 0);
            continue;
        }
        uint starts[9];
        const uint children = split(shared, begin, end, starts);
        links[id] = INNER | LINK(cells, children);
        for (uint k = 0; k < children; ++k)
            ranges[cells++] = (uint2)(starts[k], starts[k + 1]);
    }
    counts[0] = cells;
    counts[1] = left;
}

// Creates the subtrees below the top of the tree, with the moments of their cells.
TASK void grow(__global const uint *counts, __global const uint4 *subtrees, __global const uchar *shared,
               __global const float *columns, const uint stride, __global uint *links, __global uint2 *ranges,
               __global float *cells, const uint cell_stride)
{
    for (uint t = get_global_id(0); t < counts[1]; t += get_global_size(0)) {
        const uint4 tree = subtrees[t];
        const uint first = TOP_CELLS + 2 * tree.x;
        uint next = first, waiting[WAITING], count = 1;
        waiting[0] = tree.z;
        ranges[tree.z] = tree.xy;
        while (count > 0) {
            const uint id = waiting[--count], begin = ranges[id].x, end = ranges[id].y;
            if (end - begin <= LEAF) {
                links[id] = LINK(begin, end - begin);
                continue;
            }
            uint starts[9];
            const uint children = split(shared, begin, end, starts);
            links[id] = INNER | LINK(next, children);
            for (uint k = 0; k < children; ++k, ++next) {
                ranges[next] = (uint2)(starts[k], starts[k + 1]);
                waiting[count + children - 1 - k] = next;
            }
            count += children;
        }
        for (uint k = next; k >= first; --k) {
            // Computes the root of the subtree last, since a cell needs the moments of its children.
            const uint id = k > first ? k - 1 : tree.z, begin = ranges[id].x, end = ranges[id].y;
            if (links[id] & INNER)
                inner_moments(begin, end, links[id], columns, stride, cells, cell_stride, id);
            else
                leaf_moments(begin, end, columns, stride, cells, cell_stride, id);
        }
    }
}

// Computes the moments of the cells in the top of the tree, children before their parents.
TASK void crown(__global const uint *counts, __global const float *columns, const uint stride,
                __global const uint *links, __global const uint2 *ranges, __global float *cells, const uint cell_stride)
{
    for (uint id = counts[0]; id-- > 0;)
        // The roots of subtrees already have their moments.
        if (links[id] & INNER && FIRST_OF(links[id]) < TOP_CELLS)
            inner_moments(ranges[id].x, ranges[id].y, links[id], columns, stride, cells, cell_stride, id);
}
