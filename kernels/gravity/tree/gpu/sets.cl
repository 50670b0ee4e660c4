// Begins the walks of the groups on a GPU: walks the tree once for each set of SET neighbouring bodies. Cells that are
// far from the set act on an expansion around its centre. Of the others, the root and cells that are larger than
// OPENED_RADII radii of the set are opened. The groups of the set continue with the cells that are left (see walk.cl).

#if SET
// Writes the field of the far cells to `fields`, and the ids of the cells that are left to `left_cells`. Writes to
// `sets` the number of cells that are left, whether the groups begin at the root instead, the number of far cells, and
// the number of tests. The groups begin at the root, and the field is 0, if more than MOST_LEFT cells are left. Skips
// sets without bodies at the positions from `from` to `to` of the sorted order. For the other arguments, see the kernel
// `walk`.
__kernel __attribute__((reqd_work_group_size(WARP, 1, 1))) void
walk_sets(const uint n, const uint from, const uint to, const float opening, const float far_share, const float eps2,
          __global const float4 *restrict bodies, __global const float *restrict least,
          __global const float4 *restrict cells, __global const float *restrict traces, __global float *restrict fields,
          __global uint *restrict left_cells, __global uint4 *restrict sets)
{
    __local uint stack[STACK], far_list[2 * WARP], scratch[WARP];
    const uint lane = get_local_id(0), before = (1u << lane) - 1;
    const uint set = get_global_id(0) / WARP, begin = set * SET;
    if (begin >= min(n, to) || begin + SET <= from)
        return;
    const uint last = min(n - begin, (uint)SET) - 1;
    left_cells += set * MOST_LEFT;
    float side[7] = { INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY };
    for (uint k = lane; k < SET; k += WARP) {
        const float4 p = bodies[begin + min(k, last)];
        const float values[7] = { p.x, p.y, p.z, -p.x, -p.y, -p.z, least[begin + min(k, last)] };
        for (uint t = 0; t < 7; ++t)
            side[t] = fmin(side[t], values[t]);
    }
    for (uint step = WARP / 2; step > 0; step /= 2)
        for (uint t = 0; t < 7; ++t)
            side[t] = fmin(side[t], shuffle_float(side[t], lane ^ step, scratch));
    const float3 low = (float3)(side[0], side[1], side[2]), high = -(float3)(side[3], side[4], side[5]);
    const float3 centre = 0.5f * low + 0.5f * high, half_size = 0.5f * high - 0.5f * low;
    const float4 box = (float4)(centre, opening < 0.0f ? INFINITY : opening * side[6]);
#if ACCELERATION_CRITERION
    const float angle = opening < 0.0f ? FIRST_ANGLE : LARGEST_ANGLE, limit = box.w;
#else
    const float angle = angle_of(opening), limit = angle * angle * angle;
#endif
    float radius = 0.0f;
    for (uint k = lane; k < SET; k += WARP)
        radius = fmax(radius, length(bodies[begin + min(k, last)].xyz - centre));
    for (uint step = WARP / 2; step > 0; step /= 2)
        radius = fmax(radius, shuffle_float(radius, lane ^ step, scratch));
    const float far_eps2 = FAR_EPS2(eps2), open_from = OPENED_RADII * radius;
#if EXPANSIONS
    float s[TERMS];
#pragma unroll
    for (uint k = 0; k < TERMS; ++k)
        s[k] = 0.0f;
#endif

    uint far_count = 0, far_all = 0, left = 0, tests = 0;
    int height = 1;
    if (lane == 0)
        stack[0] = 0;
    while (height > 0 && left <= MOST_LEFT) {
        sync_warp();
        const int popped = min(min(height, WARP), max(1, (STACK - 160 - height) / 7));
        height -= popped;
        const bool active = (int)lane < popped;
        const uint id = active ? stack[height + lane] : 0;
        const float4 c = cells[ROWS * id], b = cells[ROWS * id + 1];
        const uint first = as_uint(b.z), count = as_uint(b.w) & ~INNER;
        const bool accepted = active & accepts(box, half_size, c, b.y, angle, eps2);
#if EXPANSIONS
        const bool far = accepted & is_far(centre, radius, far_share * limit, c, b.y, far_eps2);
#else
        const bool far = false;
#endif
#if EXPANSIONS && ACCELERATION_CRITERION
        const bool kept = far;
#else
        // Does not open cells that the set accepts: each group accepts them too, so that only few cells are left.
        const bool kept = accepted;
#endif
        const bool open = active && !kept && (as_uint(b.w) & INNER) != 0 && (b.y > open_from || id == 0);
        const bool rest = active && !far && !open;
        tests += popped;
        height = push_children(stack, height, open ? count : 0, first, lane, scratch);
        uint bits = ballot(rest, scratch);
        const uint place = left + popcount(bits & before);
        if (rest && place < MOST_LEFT)
            left_cells[place] = id;
        left += popcount(bits);
#if EXPANSIONS
        bits = ballot(far, scratch);
        if (far)
            far_list[far_count + popcount(bits & before)] = id;
        far_count += popcount(bits);
        far_all += popcount(bits);
        while (far_count >= (height == 0 ? 1 : WARP)) {
            sync_warp();
            const uint cell = far_list[lane], later = far_list[lane + WARP];
            if (lane < far_count)
                expand(s, centre, radius, cells[ROWS * cell], cells[ROWS * cell + 1], cells[ROWS * cell + 2],
                       traces[cell], far_eps2);
            far_count -= min(far_count, (uint)WARP);
            sync_warp();
            far_list[lane] = later;
        }
#endif
    }
    const bool overflows = left > MOST_LEFT;
#if EXPANSIONS
#pragma unroll
    for (uint k = 0; k < TERMS; ++k) {
        for (uint step = WARP / 2; step > 0; step /= 2)
            s[k] += shuffle_float(s[k], lane ^ step, scratch);
        if (lane == 0)
            fields[set * FIELD + k] = overflows ? 0.0f : s[k];
    }
    if (lane == 0) {
        vstore3(centre, 0, fields + set * FIELD + TERMS);
        fields[set * FIELD + TERMS + 3] = radius;
    }
#endif
    if (lane == 0)
        sets[set] = overflows ? (uint4)(1, 1, 0, tests) : (uint4)(left, 0, far_all, tests);
}
#endif
