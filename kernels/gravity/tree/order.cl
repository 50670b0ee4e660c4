// Sorts the bodies along a space-filling curve (Hilbert or Morton, selected by the macro HILBERT), and computes for
// each body how many levels of an octree it shares with the body before it.
//
// A key has LEVELS levels. If too many bodies for a leaf share a whole key, they get another key of LEVELS levels
// within their own bounding box, and so on. So bodies are told apart however close they are to each other.

#define LEVELS 10
#define DIGIT_BITS 10
#define DIGITS (1 << DIGIT_BITS)
// Marks a body that shares all levels with the body before it.
#define SAME 255
// Maximum number of successive keys of a body: the levels of more keys would not fit into an element of `shared`.
#define DEPTH 25

// Writes the lowest and the highest corner of the box around the bodies of each task.
TASK void bounds(const uint n, __global const float4 *x, __global float4 *corners)
{
    const uint t = get_global_id(0), tasks = get_global_size(0);
    float4 low = x[0], high = x[0];
    for (uint i = part(n, t, tasks); i < part(n, t + 1, tasks); ++i) {
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    corners[2 * t] = low;
    corners[2 * t + 1] = high;
}

// Returns the positions of 16 points on the curve from their coordinates of LEVELS bits. The Morton curve interleaves
// the bits of the coordinates; the Hilbert curve transforms the coordinates first (Skilling 2004, AIP Conf. Proc. 707,
// 381).
uint16 curve(uint16 x, uint16 y, uint16 z)
{
    uint16 gray = 0;
#if HILBERT
    for (int level = LEVELS - 1; level > 0; --level) {
        const uint low = (1u << level) - 1;
        uint16 t;
        // Where the bit of the coordinate c is set, inverts the lower bits of x. Elsewhere, exchanges the lower bits of
        // x and c.
#define TURN(c)                                                                                                         \
    t = -((c >> (uint16)(level)) & 1u);                                                                                 \
    {                                                                                                                   \
        const uint16 change = (x ^ c) & low & ~t;                                                                       \
        x ^= (t & low) | change;                                                                                        \
        c ^= change;                                                                                                    \
    }
        x ^= -((x >> (uint16)(level)) & 1u) & low;
        TURN(y)
        TURN(z)
#undef TURN
    }
    y ^= x;
    z ^= y;
    for (int level = LEVELS - 1; level > 0; --level)
        gray ^= -((z >> (uint16)(level)) & 1u) & ((1u << level) - 1);
#endif
    // Inserts two zero bits after each bit of a coordinate, so that the three coordinates can be interleaved.
#define SPREAD(c)                                                                                                       \
    c ^= gray;                                                                                                          \
    c = (c | c << (uint16)(16)) & 0x030000ffu;                                                                          \
    c = (c | c << (uint16)(8)) & 0x0300f00fu;                                                                           \
    c = (c | c << (uint16)(4)) & 0x030c30c3u;                                                                           \
    c = (c | c << (uint16)(2)) & 0x09249249u;
    SPREAD(x)
    SPREAD(y)
    SPREAD(z)
#undef SPREAD
    return x << (uint16)(2) | y << (uint16)(1) | z;
}

// Returns the keys of 16 bodies in a grid with `scale` cells per unit of length. The point `low` is `first` cells above
// the lowest corner of the grid.
uint16 keys_of(__global const float4 *x, const uint *ids, float4 low, float scale, float3 first)
{
    float px[16], py[16], pz[16];
    for (uint k = 0; k < 16; ++k) {
        const float4 p = x[ids[k]];
        px[k] = p.x;
        py[k] = p.y;
        pz[k] = p.z;
    }
    const float most = DIGITS - 1;
#define CELL_OF(p, axis) convert_uint16(clamp((vload16(0, p) - low.axis) * scale + first.axis, 0.0f, most))
    return curve(CELL_OF(px, x), CELL_OF(py, y), CELL_OF(pz, z));
#undef CELL_OF
}

// Returns the number of cells per unit of length in a cubic grid around a box; 0 for a box without extent.
float scale_of(float4 low, float4 high)
{
    const float4 size = high - low;
    const float most = fmax(size.x, fmax(size.y, size.z));
    return most > 0.0f ? DIGITS / most : 0.0f;
}

// Writes the key of each body in the upper half of 64 bits, and the body's index in the lower half.
TASK void make_keys(const uint n, __global const float4 *x, __global const float4 *corners, const uint boxes,
                    __global ulong *keys)
{
    const uint t = get_global_id(0), tasks = get_global_size(0);
    float4 low = corners[0], high = corners[1];
    for (uint k = 1; k < boxes; ++k) {
        low = fmin(low, corners[2 * k]);
        high = fmax(high, corners[2 * k + 1]);
    }
    const float scale = (1.0f - WIDER) * scale_of(low, high);
    const float3 first = DIGITS * grid_shift(low.xyz, high.xyz);
    const uint end = part(n, t + 1, tasks);
    for (uint i = part(n, t, tasks); i < end; i += 16) {
        uint ids[16], found[16];
        for (uint k = 0; k < 16; ++k)
            ids[k] = min(i + k, n - 1);
        vstore16(keys_of(x, ids, low, scale, first), 0, found);
        for (uint k = 0; k < 16 && i + k < end; ++k)
            keys[i + k] = (ulong)found[k] << 32 | (i + k);
    }
}

// Counts how often each value of a digit occurs in the keys of each task. The digit begins at the given bit.
TASK void count_digits(const uint n, const uint bit, __global const ulong *keys, __global uint *counts)
{
    const uint t = get_global_id(0), tasks = get_global_size(0);
    uint own[DIGITS];
    for (uint d = 0; d < DIGITS; ++d)
        own[d] = 0;
    for (uint i = part(n, t, tasks); i < part(n, t + 1, tasks); ++i)
        ++own[(uint)(keys[i] >> bit) & (DIGITS - 1)];
    for (uint d = 0; d < DIGITS; ++d)
        counts[t * DIGITS + d] = own[d];
}

// Moves the keys of each task to their places in the order of the digit that begins at the given bit. Keys with equal
// digits keep their order.
TASK void scatter(const uint n, const uint bit, __global const uint *counts, __global const ulong *restrict keys,
                  __global ulong *restrict sorted)
{
    const uint t = get_global_id(0), tasks = get_global_size(0);
    uint place[DIGITS], sum = 0;
    for (uint d = 0; d < DIGITS; ++d)
        for (uint u = 0; u < tasks; ++u) {
            if (u == t)
                place[d] = sum;
            sum += counts[u * DIGITS + d];
        }
    for (uint i = part(n, t, tasks); i < part(n, t + 1, tasks); ++i) {
        const ulong key = keys[i];
        sorted[place[(uint)(key >> bit) & (DIGITS - 1)]++] = key;
    }
}

// Sorts a list in place (heapsort).
void sort(__global ulong *list, uint count)
{
    for (uint last = count, first = count / 2; last > 1;) {
        ulong moving;
        if (first > 0) {
            moving = list[--first];
        } else {
            moving = list[--last];
            list[last] = list[0];
        }
        uint at = first;
        for (uint child = 2 * at + 1; child < last; child = 2 * at + 1) {
            child += child + 1 < last && list[child] < list[child + 1];
            if (list[child] <= moving)
                break;
            list[at] = list[child];
            at = child;
        }
        list[at] = moving;
    }
}

// Returns the number of levels that two keys share.
uint levels_of(uint a, uint b)
{
    return a == b ? SAME : (clz(a ^ b) - (32 - 3 * LEVELS)) / 3;
}

// Sorts the bodies from `begin` to `end`, which share `depth` keys, by a key within their own box. Returns whether
// their box has an extent.
bool deepen(uint begin, uint end, uint depth, __global const float4 *x, __global ulong *keys, __global ulong *own,
            __global uchar *shared)
{
    float4 low = x[(uint)keys[begin]], high = low;
    for (uint i = begin; i < end; ++i) {
        const float4 p = x[(uint)keys[i]];
        low = fmin(low, p);
        high = fmax(high, p);
    }
    const float scale = scale_of(low, high);
    if (scale == 0.0f || isinf(scale))
        return false;
    for (uint i = begin; i < end; i += 16) {
        uint ids[16], found[16];
        for (uint k = 0; k < 16; ++k)
            ids[k] = (uint)keys[min(i + k, end - 1)];
        vstore16(keys_of(x, ids, low, scale, (float3)(0.0f)), 0, found);
        for (uint k = 0; k < 16 && i + k < end; ++k)
            own[i + k] = (ulong)found[k] << 32 | ids[k];
    }
    sort(own + begin, end - begin);
    for (uint i = begin; i < end; ++i) {
        // Keeps the upper half, because another task may compare it with the next key.
        keys[i] = (keys[i] & 0xffffffff00000000ul) | (uint)own[i];
        if (i > begin) {
            const uint levels = levels_of(own[i - 1] >> 32, own[i] >> 32);
            shared[i] = levels == SAME ? SAME : depth * LEVELS + levels;
        }
    }
    return true;
}

// Writes for each body the number of levels that it shares with the body before it. More than LEAF bodies that share a
// whole key are sorted further; `own` is scratch space for their keys. A task processes the runs of equal keys that
// begin in its part.
TASK void share_levels(const uint n, __global const float4 *x, __global ulong *keys, __global ulong *own,
                       __global uchar *shared)
{
    const uint t = get_global_id(0), tasks = get_global_size(0);
    uint i = part(n, t, tasks);
    const uint last = part(n, t + 1, tasks);
    while (i > 0 && i < last && keys[i] >> 32 == keys[i - 1] >> 32)
        ++i;
    while (i < last) {
        const uint key = keys[i] >> 32;
        uint end = i + 1;
        while (end < n && keys[end] >> 32 == key)
            ++end;
        shared[i] = i > 0 ? levels_of(keys[i - 1] >> 32, key) : 0;
        for (uint k = i + 1; k < end; ++k)
            shared[k] = SAME;
        bool again = end - i > LEAF;
        for (uint depth = 1; again && depth < DEPTH; ++depth) {
            again = false;
            for (uint from = i, to; from < end; from = to) {
                to = from + 1;
                while (to < end && shared[to] == SAME)
                    ++to;
                if (to - from > LEAF)
                    again |= deepen(from, to, depth, x, keys, own, shared);
            }
        }
        i = end;
    }
}

// Copies the bodies, and the magnitude of the last acceleration of each, into columns in the order of the keys. The
// columns are `stride` long; beyond the last body they hold zeros.
TASK void gather(const uint n, const uint stride, __global const ulong *keys, __global const float4 *x,
                 __global const float *last, __global float *columns, __global uint *ids)
{
    const uint t = get_global_id(0), tasks = get_global_size(0), end = part(n, t + 1, tasks);
    for (uint i = part(n, t, tasks); i < end; ++i) {
        const uint id = (uint)keys[i];
        const float4 p = x[id];
        columns[i] = p.x;
        columns[stride + i] = p.y;
        columns[2 * stride + i] = p.z;
        columns[3 * stride + i] = p.w;
        columns[4 * stride + i] = last[id];
        ids[i] = id;
    }
    if (end == n)
        for (uint i = n; i < stride; ++i)
            for (uint k = 0; k < 5; ++k)
                columns[k * stride + i] = 0.0f;
}
