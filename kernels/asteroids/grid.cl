// A cell list, rebuilt in every substep. All bodies that touch a body are in the 27 cells around the body.
//
// Space is unbounded, but the table of buckets is not: cell (x, y, z) is stored in bucket (x + P·y + Q·z) mod buckets.
// The host chooses P and Q so that the 27 cells around any body are in 27 different buckets, so that no body is visited
// twice. Bodies of other cells in the same bucket are too far away to touch. A counting sort puts the bodies into
// buckets; within a bucket they are then sorted by number, so that the result does not depend on the timing of the
// counting.

// Largest cell index along each axis. Positions farther out are too coarse to tell cells apart, so the outermost cells
// extend to infinity.
#define RIM 65536.0f

uint bucket_of(float4 x, float per_cell, uint p, uint q, uint buckets)
{
    int3 cell = convert_int3(clamp(floor(x.xyz * per_cell), -RIM, RIM));
    return (as_uint(cell.x) + p * as_uint(cell.y) + q * as_uint(cell.z)) & (buckets - 1);
}

__kernel void clear(const uint counts, __global uint *count)
{
    const uint i = get_global_id(0);
    if (i < counts)
        count[i] = 0;
}

// Counts the bodies of each bucket, and stores for each body how many were counted before it, which depends on timing.
__kernel void count_cells(const uint n, const float per_cell, const uint p, const uint q, const uint buckets,
                          __global const float4 *x_in, __global volatile uint *count, __global uint2 *place)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const uint bucket = bucket_of(x_in[i], per_cell, p, q, buckets);
    place[i] = (uint2)(bucket, atomic_inc(&count[bucket]));
}

// Work-group size of the three kernels that compute exclusive prefix sums of the counts: within blocks of 4 ·
// SCAN_GROUP counts, over the sums of the blocks, and the total of both.
#define SCAN_GROUP 256

// Returns the exclusive prefix sum of `x` over the work-group, and sets `*total` to the sum of all `x`. Every work-item
// of the work-group must call this function.
uint group_scan(uint x, __local uint *scratch, uint *total)
{
    const uint lane = get_local_id(0);
    uint sum = x;
    scratch[lane] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint reach = 1; reach < SCAN_GROUP; reach *= 2) {
        uint before = lane >= reach ? scratch[lane - reach] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += before;
        scratch[lane] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *total = scratch[SCAN_GROUP - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum - x;
}

__kernel __attribute__((reqd_work_group_size(SCAN_GROUP, 1, 1)))
void scan_blocks(__global const uint4 *count, __global uint4 *start, __global uint *block)
{
    __local uint scratch[SCAN_GROUP];
    const uint i = get_global_id(0);
    const uint4 c = count[i];
    uint total;
    uint before = group_scan(c.x + c.y + c.z + c.w, scratch, &total);
    start[i] = before + (uint4)(0, c.x, c.x + c.y, c.x + c.y + c.z);
    if (get_local_id(0) == 0)
        block[get_group_id(0)] = total;
}

// Replaces the sum of each block by the sum of all earlier blocks. Runs as a single work-group.
__kernel __attribute__((reqd_work_group_size(SCAN_GROUP, 1, 1)))
void scan_sums(const uint blocks, __global uint *block)
{
    __local uint scratch[SCAN_GROUP];
    uint carried = 0;
    for (uint first = 0; first < blocks; first += SCAN_GROUP) {
        const uint i = first + get_local_id(0);
        uint total;
        uint before = group_scan(i < blocks ? block[i] : 0, scratch, &total);
        if (i < blocks)
            block[i] = carried + before;
        carried += total;
    }
}

__kernel __attribute__((reqd_work_group_size(SCAN_GROUP, 1, 1)))
void scan_add(__global uint4 *start, __global const uint *block)
{
    start[get_global_id(0)] += block[get_group_id(0)];
}

// Writes the numbers of the bodies in each bucket, in the order in which they were counted.
__kernel void queue_up(const uint n, __global const uint2 *place, __global const uint *start, __global uint *queue)
{
    const uint i = get_global_id(0);
    if (i < n)
        queue[start[place[i].x] + place[i].y] = i;
}

// Writes the bodies sorted by bucket, and by number within each bucket.
__kernel void sort_bodies(const uint n, __global const float4 *x_in, __global const float4 *v_in,
                          __global const uint2 *place, __global const uint *start, __global const uint *queue,
                          __global float4 *x_sorted, __global float4 *v_sorted, __global uint *number)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const uint first = start[place[i].x];
    const uint last = start[place[i].x + 1];
    uint rank = 0;
    for (uint k = first; k < last; ++k)
        rank += queue[k] < i;
    x_sorted[first + rank] = x_in[i];
    v_sorted[first + rank] = v_in[i];
    number[first + rank] = i;
}

__kernel WHOLE_GROUPS void advance(const uint n, const COEFFICIENTS c, __global const float4 *x_sorted,
                                   __global const float4 *v_sorted, OUTPUT, const float per_cell, const uint p,
                                   const uint q, const uint buckets, __global const uint *start,
                                   __global const uint *number)
{
    const uint at = get_global_id(0);
    if (at >= n)
        return;
    const uint i = number[at];
    const float4 own = x_sorted[at];
    const float4 own_v = v_sorted[at];
    const uint home = bucket_of(own, per_cell, p, q, buckets);
    Contacts s = no_contacts();
    for (uint row = 0; row < 9; ++row) {
        // Three cells that are adjacent along x are in adjacent buckets, whose bodies are adjacent in memory, unless
        // the table ends between the buckets.
        uint bucket = (home + p * (row % 3) + q * (row / 3) - 1 - p - q) & (buckets - 1);
        for (uint left = 3; left > 0;) {
            const uint taken = min(left, buckets - bucket);
            const uint first = start[bucket];
            const uint last = start[bucket + taken];
            s.met += last - first;
            for (uint k = first; k < last; ++k) {
                if (touches(own, x_sorted[k], c) && k != at)
                    meet(&s, n, at, k, i, number[k], own, own_v, x_sorted[k], v_sorted[k], c, OUT);
            }
            left -= taken;
            bucket = 0;
        }
    }
    finish(s, at, i, own, own_v, c, OUT);
}

#ifdef MATCH
// Second pass: visits the partners that the first pass listed, or the cells if the partners were too many for the list.
__kernel WHOLE_GROUPS void resolve_sorted(const uint n, const COEFFICIENTS c, __global const float4 *x_sorted,
                                          __global const float4 *v_sorted, OUTPUT, const float per_cell, const uint p,
                                          const uint q, const uint buckets, __global const uint *start,
                                          __global const uint *number)
{
    const uint at = get_global_id(0);
    if (at >= n)
        return;
    const uint i = number[at];
    const float4 own = x_sorted[at];
    const float4 own_v = v_sorted[at];
    const Role role = role_of(at, roles);
    const uint touched = roles[at].y;
    Change s = no_change();
    if (touched <= PARTNERS) {
        for (uint nth = 0; nth < touched; ++nth) {
            const uint k = partners[(size_t)nth * n + at];
            resolve_pair(&s, role, at, k, i, number[k], own, own_v, x_sorted[k], v_sorted[k], c, roles);
        }
    } else {
        const uint home = bucket_of(own, per_cell, p, q, buckets);
        for (uint cell = 0; cell < 27; ++cell) {
            const uint bucket = (home + cell % 3 + p * (cell / 3 % 3) + q * (cell / 9) - 1 - p - q) & (buckets - 1);
            for (uint k = start[bucket]; k < start[bucket + 1]; ++k) {
                if (touches(own, x_sorted[k], c) && k != at)
                    resolve_pair(&s, role, at, k, i, number[k], own, own_v, x_sorted[k], v_sorted[k], c, roles);
            }
        }
    }
    finish_second(s, role, i, own, own_v, c, OUT);
}
#endif
