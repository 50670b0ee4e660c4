// Walks the tree on a GPU for groups of neighbouring bodies, and sums the forces. A warp processes a group: in a group
// of 16, two lanes share a body; in a group of 64, each lane has two bodies.
//
// An accepted cell acts on each body of the group, or, if it is far, on an expansion around the group's centre. Cells
// that are not accepted are opened, down to their bodies. A cell of mass M and radius r at the distance d is accepted
// if M/d² (r/d)³, the size of the first term that its quadrupole leaves out, is at most `opening` times the smallest
// acceleration in the group (without G), for every 32 bodies of the group, and r/d is below LARGEST_ANGLE. Accepted
// leaves of at most FEW_BODIES bodies act body by body. A far cell is at least FAR_RADII group radii away, and the
// estimated error of its expansion is at most `far_share` times the error allowed for an accepted cell. FAR_SOFTENING
// is the weight of the part due to softening. The host defines these constants.
//
// With SET, the groups of each SET neighbouring bodies begin together (see sets.cl). Each group then continues with the
// cells that are left. Without SET, each group begins at the root.
//
// The host also defines the method: ORDER 2 or, without quadrupoles, 0; ACCELERATION_CRITERION 1, or 0 to accept cells
// by r/d alone, if it is below `angle_of`; EXPANSIONS 1, or 0 so that all accepted cells act on bodies. The rules for
// cells do not depend on ORDER.

#define OWN (GROUP > WARP ? GROUP / WARP : 1)
#define TEAMS (GROUP < WARP ? WARP / GROUP : 1)
#define LANES_OF_TEAM (WARP / TEAMS)
// Capacity of the stack of cells to be tested. So many cells are popped at once that all their children find room.
#define STACK 1024
// Largest number of bodies that are added at a time to the list of bodies that act one by one.
#define NEAR_ROOM 320
#ifdef POTENTIAL
#define TERMS 29
#else
#define TERMS 28
#endif
// Number of values that describe the field of the cells that act on a set, rounded up: the terms of an expansion, its
// centre, and the set's radius.
#define FIELD 36
// Capacity of the list of cells that the walk for a set leaves to its groups.
#define MOST_LEFT 512
// A body or cell without mass, far away from everything, with which tiles are padded.
#define NOWHERE ((float4)(1e15f, 1e15f, 1e15f, 0.0f))

// The bodies of a lane with their sums: accelerations, or potentials divided by -G.
typedef struct {
    float3 x[OWN], a[OWN];
    float potential[OWN];
} Bodies;

#ifdef POTENTIAL
// Returns the potential of a body of mass 1 divided by -G, from the squared distance; see `potential_of` in measure.cl.
float potential_of(float r2, float eps2)
{
#ifdef SOFTENING_CLAMP
    const float inner = root(eps2);
    return r2 >= eps2 ? root(r2) : inner * (1.5f - 0.5f * r2 / eps2);
#else
    return root(r2 + eps2);
#endif
}
#endif

// Adds the accelerations due to the bodies in `tile` to the sums of the lane's own bodies. `ids` are the positions of
// the tile's bodies in the sorted order, and `first` is that of the first own body.
void attract_to_bodies(Bodies *own, __local const float4 *tile, __local const uint *ids, uint first, uint team,
                       float eps2)
{
#pragma unroll 8
    for (uint j = 0; j < 2 * WARP; j += TEAMS) {
        const float4 other = tile[j + team];
#pragma unroll
        for (uint k = 0; k < OWN; ++k) {
            const float dx = other.x - own->x[k].x, dy = other.y - own->x[k].y, dz = other.z - own->x[k].z;
#ifdef POTENTIAL
            const float one = other.w * potential_of(fma(dx, dx, fma(dy, dy, dz * dz)), eps2);
            own->potential[k] += ids[j + team] == first + k * LANES_OF_TEAM ? 0.0f : one;
#else
            const float f = pull(other.w, softened(dx, dy, dz, eps2));
            own->a[k].x = fma(f, dx, own->a[k].x);
            own->a[k].y = fma(f, dy, own->a[k].y);
            own->a[k].z = fma(f, dz, own->a[k].z);
#endif
        }
    }
}

// Adds the accelerations due to the cells in `tile`, three rows for each of WARP cells, to the sums of the lane's own
// bodies.
void attract_to_cells(Bodies *own, __local const float4 *tile, __local const float *traces, uint team, float eps2)
{
#pragma unroll 4
    for (uint j = 0; j < WARP; j += TEAMS) {
#if ORDER >= 2
        const float4 c = tile[j + team], b = tile[j + team + WARP], d = tile[j + team + 2 * WARP];
        const float trace = traces[j + team] * eps2;
#else
        const float4 c = tile[j + team];
#endif
#pragma unroll
        for (uint k = 0; k < OWN; ++k) {
            const float dx = c.x - own->x[k].x, dy = c.y - own->x[k].y, dz = c.z - own->x[k].z;
#if ORDER < 2
#ifdef POTENTIAL
            own->potential[k] += c.w * root(softened(dx, dy, dz, eps2));
#else
            const float f = pull(c.w, softened(dx, dy, dz, eps2));
            own->a[k].x = fma(f, dx, own->a[k].x);
            own->a[k].y = fma(f, dy, own->a[k].y);
            own->a[k].z = fma(f, dz, own->a[k].z);
#endif
#else
            const float v = root(softened(dx, dy, dz, eps2)), v2 = v * v;
            const float x = dx * v, y = dy * v, z = dz * v;
            const float ux = fma(d.x, x, fma(d.y, y, d.z * z)), uy = fma(d.y, x, fma(d.w, y, b.x * z));
            const float uz = fma(d.z, x, fma(b.x, y, -(d.x + d.w) * z));
            // The softened potential is not harmonic, so the trace of the second moments contributes.
            const float w = fma(ux, x, fma(uy, y, fma(uz, z, -trace * v2)));
            const float size2 = b.y * b.y * v2;
#ifdef POTENTIAL
            own->potential[k] += c.w * v * fma(0.5f * size2, w, 1.0f);
#else
            const float pull_ = c.w * v2;
            const float along = fma(2.5f * size2, w, 1.0f) * pull_, across = -pull_ * size2;
            own->a[k].x += fma(along, x, across * ux);
            own->a[k].y += fma(along, y, across * uy);
            own->a[k].z += fma(along, z, across * uz);
#endif
#endif
        }
    }
}

// Returns whether a cell may act as a whole on each body in a box. `box` holds the centre of the box and the largest
// allowed error, and `half_size` is half the size of the box. `c` and `radius` describe the cell.
bool accepts(float4 box, float3 half_size, float4 c, float radius, float angle, float eps2)
{
    const float3 gap = fmax(fabs(c.xyz - box.xyz) - half_size, 0.0f);
    const float gap2 = dot(gap, gap), near = root(gap2), ratio = radius * near;
    bool accepted = ratio < angle;
#if ACCELERATION_CRITERION
    // Includes the rounding error of the centre of mass, which does not average out.
    const float3 place = fabs(c.xyz);
    const float rounding = ROUNDING * fmax(place.x, fmax(place.y, place.z));
    accepted &= c.w * near * near * fma(ratio * ratio, ratio, rounding * near) <= box.w;
#endif
#ifdef SOFTENING_CLAMP
    accepted &= gap2 > eps2;
#endif
    return accepted;
}

// Returns whether an accepted cell is far enough to act on an expansion around `centre`, for bodies that are at most
// `radius` away from the centre. `c` and `cell_radius` describe the cell. `limit` is the largest allowed error of the
// expansion, divided by M/d² if cells are accepted by r/d alone.
bool is_far(float3 centre, float radius, float limit, float4 c, float cell_radius, float far_eps2)
{
    const float3 d = c.xyz - centre;
    const float away = root(dot(d, d)), ours = radius * away, theirs = cell_radius * away;
    const float ours2 = ours * ours, theirs2 = theirs * theirs, soft = far_eps2 * away * away;
    const float missed = ours2 * fma(2.0f, theirs2, fma(FAR_SOFTENING * soft, ours + theirs2, ours2));
#if ACCELERATION_CRITERION
    return (ours * FAR_RADII < 1.0f) & (c.w * away * away * missed <= limit);
#else
    return (ours * FAR_RADII < 1.0f) & (missed <= limit);
#endif
}

#if EXPANSIONS
// Adds the field of a cell to the terms `s` of an expansion around `centre`: derivatives of the potential of the orders
// 1 to 4, in units of `radius`, the radius of the group or set. Derivatives that follow from the others and the trace
// are left out:
//   x y z; xx xy xz yy yz; xxx xxy xyy yyy xxz xyz yyz; xxxx xxxy xxyy xyyy yyyy xxxz xxyz xyyz yyyz.
// The trace is zero without softening. With softening, the next terms are minus the trace of order 2, and the three
// traces of order 3. The traces of order 4 are neglected. `c`, `b` and `d` are the rows of the cell, and `cell_trace`
// is the trace of its second moments.
void expand(float *s, float3 centre, float radius, float4 c, float4 b, float4 d, float cell_trace, float eps2)
{
    const float dx = centre.x - c.x, dy = centre.y - c.y, dz = centre.z - c.z;
    const float v = root(fma(dx, dx, fma(dy, dy, fma(dz, dz, eps2)))), soft = eps2 * v * v;
#if ORDER >= 2
    // The direction to the centre, the quadrupole divided by r², and the product of the two.
    const float x = dx * v, y = dy * v, z = dz * v, size = b.y * v, size2 = size * size;
    const float xx = d.x * size2, xy = d.y * size2, xz = d.z * size2, yy = d.w * size2, yz = b.x * size2;
    const float ux = fma(xx, x, fma(xy, y, xz * z)), uy = fma(xy, x, fma(yy, y, yz * z));
    const float uz = fma(xz, x, fma(yz, y, -(xx + yy) * z));
    const float trace = cell_trace * size2 * soft, w = fma(ux, x, fma(uy, y, fma(uz, z, -trace)));
    const float along = fma(2.5f, w, 1.0f), h = fma(17.5f, w, 3.0f);
#else
    const float x = dx * v, y = dy * v, z = dz * v;
#endif
    const float step = radius * v, m1 = c.w * v * v, m2 = m1 * step, m3 = m2 * step, m4 = m3 * step;
    const float x2 = x * x, y2 = y * y, xy_ = x * y, xz_ = x * z, yz_ = y * z;
#if ORDER >= 2
    s[0] = fma(m1, fma(-x, along, ux), s[0]);
    s[1] = fma(m1, fma(-y, along, uy), s[1]);
    s[2] = fma(m1, fma(-z, along, uz), s[2]);
    s[3] = fma(m2, xx + fma(x2, h, -along) - 10.0f * ux * x, s[3]);
    s[4] = fma(m2, fma(xy_, h, xy) - 5.0f * fma(ux, y, uy * x), s[4]);
    s[5] = fma(m2, fma(xz_, h, xz) - 5.0f * fma(ux, z, uz * x), s[5]);
    s[6] = fma(m2, yy + fma(y2, h, -along) - 10.0f * uy * y, s[6]);
    s[7] = fma(m2, fma(yz_, h, yz) - 5.0f * fma(uy, z, uz * y), s[7]);
    s[24] = fma(m2, fma(soft, h, 10.0f * trace), s[24]);
#else
    s[0] = fma(-m1, x, s[0]);
    s[1] = fma(-m1, y, s[1]);
    s[2] = fma(-m1, z, s[2]);
    s[3] = fma(m2, fma(3.0f, x2, -1.0f), s[3]);
    s[4] = fma(3.0f * m2, xy_, s[4]);
    s[5] = fma(3.0f * m2, xz_, s[5]);
    s[6] = fma(m2, fma(3.0f, y2, -1.0f), s[6]);
    s[7] = fma(3.0f * m2, yz_, s[7]);
    s[24] = fma(3.0f * m2, soft, s[24]);
#endif
    const float ex = fma(-15.0f, x2, 3.0f), ey = fma(-15.0f, y2, 3.0f);
    s[8] = fma(m3 * x, ex + 6.0f, s[8]);
    s[9] = fma(m3 * y, ex, s[9]);
    s[10] = fma(m3 * x, ey, s[10]);
    s[11] = fma(m3 * y, ey + 6.0f, s[11]);
    s[12] = fma(m3 * z, ex, s[12]);
    s[13] = fma(-15.0f * m3, xy_ * z, s[13]);
    s[14] = fma(m3 * z, ey, s[14]);
    const float fx = 105.0f * x2, fy = 105.0f * y2;
    s[15] = fma(m4, fma(x2, fx - 90.0f, 9.0f), s[15]);
    s[16] = fma(m4 * xy_, fx - 45.0f, s[16]);
    s[17] = fma(m4, fma(x2, fy, fma(-15.0f, x2 + y2, 3.0f)), s[17]);
    s[18] = fma(m4 * xy_, fy - 45.0f, s[18]);
    s[19] = fma(m4, fma(y2, fy - 90.0f, 9.0f), s[19]);
    s[20] = fma(m4 * xz_, fx - 45.0f, s[20]);
    s[21] = fma(m4 * yz_, fx - 15.0f, s[21]);
    s[22] = fma(m4 * xz_, fy - 15.0f, s[22]);
    s[23] = fma(m4 * yz_, fy - 45.0f, s[23]);
    const float g = 15.0f * soft * m3;
    s[25] = fma(g, x, s[25]);
    s[26] = fma(g, y, s[26]);
    s[27] = fma(g, z, s[27]);
#if defined(POTENTIAL) && ORDER >= 2
    s[28] = fma(c.w * v, fma(0.5f, w, 1.0f), s[28]);
#elif defined(POTENTIAL)
    s[28] = fma(c.w, v, s[28]);
#endif
}

// Adds the field of an expansion around `centre` to the sums of the lane's own bodies. The unit of the expansion is
// `radius`.
void evaluate(const float *s, float3 centre, float radius, Bodies *own)
{
    const float scale = radius > 0.0f ? 1.0f / radius : 0.0f;
    const float zz = -s[3] - s[6] - s[24];
    const float xzz = s[25] - s[8] - s[10], yzz = s[26] - s[9] - s[11], zzz = s[27] - s[12] - s[14];
    const float xxzz = -s[15] - s[17], xyzz = -s[16] - s[18], yyzz = -s[17] - s[19];
    const float xzzz = -s[20] - s[22], yzzz = -s[21] - s[23], zzzz = -xxzz - yyzz;
#pragma unroll
    for (uint k = 0; k < OWN; ++k) {
        const float3 offset = (own->x[k] - centre) * scale;
        const float x = offset.x, y = offset.y, z = offset.z;
        const float xx = 0.5f * x * x, yy = 0.5f * y * y, z2 = 0.5f * z * z, xy = x * y, xz = x * z, yz = y * z;
        const float x3 = x * xx * (1.0f / 3.0f), y3 = y * yy * (1.0f / 3.0f), z3 = z * z2 * (1.0f / 3.0f);
        const float xxy = xx * y, xxz = xx * z, xyy = x * yy, yyz = yy * z, xz2 = x * z2, yz2 = y * z2, xyz = xy * z;
#ifdef POTENTIAL
        own->potential[k] += s[28] + radius * (s[0] * x + s[1] * y + s[2] * z + s[3] * xx + s[4] * xy + s[5] * xz + s[6] * yy
            + s[7] * yz + zz * z2 + s[8] * x3 + s[9] * xxy + s[10] * xyy + s[11] * y3 + s[12] * xxz + s[13] * xyz + s[14] * yyz
            + xzz * xz2 + yzz * yz2 + zzz * z3 + 0.25f * (s[15] * x3 * x + s[19] * y3 * y + zzzz * z3 * z) + s[16] * x3 * y
            + s[18] * x * y3 + s[20] * x3 * z + s[23] * y3 * z + xzzz * x * z3 + yzzz * y * z3 + s[17] * xx * yy
            + xxzz * xx * z2 + yyzz * yy * z2 + s[21] * xx * yz + s[22] * yy * xz + xyzz * z2 * xy);
#else
        own->a[k] += (float3)(
            s[0] + s[3] * x + s[4] * y + s[5] * z + s[8] * xx + s[9] * xy + s[10] * yy + s[12] * xz + s[13] * yz + xzz * z2
                + s[15] * x3 + s[16] * xxy + s[17] * xyy + s[18] * y3 + s[20] * xxz + s[21] * xyz + s[22] * yyz + xxzz * xz2
                + xyzz * yz2 + xzzz * z3,
            s[1] + s[4] * x + s[6] * y + s[7] * z + s[9] * xx + s[10] * xy + s[11] * yy + s[13] * xz + s[14] * yz + yzz * z2
                + s[16] * x3 + s[17] * xxy + s[18] * xyy + s[19] * y3 + s[21] * xxz + s[22] * xyz + s[23] * yyz + xyzz * xz2
                + yyzz * yz2 + yzzz * z3,
            s[2] + s[5] * x + s[7] * y + zz * z + s[12] * xx + s[13] * xy + s[14] * yy + xzz * xz + yzz * yz + zzz * z2
                + s[20] * x3 + s[21] * xxy + s[22] * xyy + s[23] * y3 + xxzz * xxz + xyzz * xyz + yyzz * yyz + xzzz * xz2
                + yzzz * yz2 + zzzz * z3);
#endif
    }
}

#endif

// Pushes the children of a cell of each lane to the stack, and returns the new height of the stack. The `count`
// children of the lane's cell have consecutive ids from `first` on.
int push_children(__local uint *stack, int height, uint count, uint first, uint lane, __local uint *scratch)
{
    if (ballot(count > 0, scratch) == 0)
        return height;
    const uint before = (1u << lane) - 1;
    uint at = height;
    for (uint bit = 0; bit < 4; ++bit) {
        const uint these = ballot((count >> bit & 1) != 0, scratch);
        at += popcount(these & before) << bit;
        height += popcount(these) << bit;
    }
    for (uint k = 0; k < count; ++k)
        stack[at + k] = first + k;
    return height;
}

// Computes the accelerations (without the factor G) of the bodies of each group, and writes them in the order of the
// bodies' ids; with POTENTIAL, computes the potentials divided by -G instead. A negative `opening` is for bodies whose
// accelerations are not known: cells are then accepted by their angle alone. The fourth number of a result is the
// number of bodies and cells that act on the body. `work` counts pairs of bodies, pairs of a cell and a body, cells
// that act on expansions, and tests of cells.
//
// A whole walk takes `warps` warps. A launch may run only some of them; it then walks for the same share of the groups.
// The total number of groups is levels[LEVELS + 2]. Groups that do not begin at the positions from `from` to `to` of
// the sorted order are skipped. `fields`, `left_cells` and `sets` are results of the kernel `walk_sets`.
__kernel __attribute__((reqd_work_group_size(WARP, 1, 1))) void
walk(const uint warps, const uint from, const uint to, const float opening, const float far_share, const float eps2,
     __global const float4 *restrict bodies, __global const float *restrict least, __global const uint *restrict ids,
     __global const float4 *restrict cells, __global const float *restrict traces,
     __global const uint2 *restrict groups, __global const uint *restrict levels,
     __global const float *restrict fields, __global const uint *restrict left_cells,
     __global const uint4 *restrict sets, RESULTS, __global uint4 *restrict work)
{
    // Up to 2 * WARP - 1 bodies remain in `near_list` from before, and up to 2 * WARP elements beyond are read.
    __local uint stack[STACK], mid_list[2 * WARP], near_list[NEAR_ROOM + 4 * WARP], scratch[WARP];
    __local float4 tile[3 * WARP], boxes[2 * OWN];
    __local float tile_traces[WARP];
#if EXPANSIONS
    __local uint far_list[2 * WARP];
#endif
    const uint lane = get_local_id(0), before = (1u << lane) - 1;
    const uint slot = lane % LANES_OF_TEAM, team = lane / LANES_OF_TEAM;
#if ACCELERATION_CRITERION
    const float angle = opening < 0.0f ? FIRST_ANGLE : LARGEST_ANGLE;
#else
    const float angle = angle_of(opening);
#endif
    const float far_eps2 = FAR_EPS2(eps2);
    uint4 done = (uint4)(0);

    const ulong count = levels[LEVELS + 2];
    const uint first_warp = get_global_offset(0) / WARP, launched = get_num_groups(0);
    const uint first_group = count * first_warp / warps, end = count * (first_warp + launched) / warps;

    for (uint g = first_group + get_group_id(0); g < end; g += launched) {
        const uint begin = groups[g].x, size = groups[g].y;
        if (begin < from || begin >= to)
            continue;
        Bodies own;
        float4 low = (float4)(INFINITY), high = (float4)(-INFINITY);
        float limit = INFINITY;
        sync_warp();
#pragma unroll
        for (uint k = 0; k < OWN; ++k) {
            const uint i = begin + min(slot + k * LANES_OF_TEAM, size - 1);
            const float4 p = bodies[i];
            own.x[k] = p.xyz;
            own.a[k] = (float3)(0.0f);
            own.potential[k] = 0.0f;
            float side[7] = { p.x, p.y, p.z, -p.x, -p.y, -p.z, least[i] };
            for (uint step = WARP / 2; step > 0; step /= 2)
                for (uint t = 0; t < 7; ++t)
                    side[t] = fmin(side[t], shuffle_float(side[t], lane ^ step, scratch));
            const float allowed = opening < 0.0f ? INFINITY : opening * side[6];
            const float4 a = (float4)(side[0], side[1], side[2], 0.0f), b = -(float4)(side[3], side[4], side[5], 0.0f);
            if (lane == 0) {
                boxes[2 * k] = (float4)(0.5f * a.xyz + 0.5f * b.xyz, allowed);
                boxes[2 * k + 1] = 0.5f * b - 0.5f * a;
            }
            low = fmin(low, a);
            high = fmax(high, b);
            limit = fmin(limit, allowed);
        }
#if !ACCELERATION_CRITERION
        // The largest allowed error of a cell, divided by M/d².
        limit = angle * angle * angle;
#endif
        const float3 centre = 0.5f * low.xyz + 0.5f * high.xyz;
        float radius = 0.0f;
#pragma unroll
        for (uint k = 0; k < OWN; ++k)
            radius = fmax(radius, length(own.x[k] - centre));
        for (uint step = WARP / 2; step > 0; step /= 2)
            radius = fmax(radius, shuffle_float(radius, lane ^ step, scratch));
#if EXPANSIONS
        float s[TERMS];
#pragma unroll
        for (uint k = 0; k < TERMS; ++k)
            s[k] = 0.0f;
#endif

        uint far_count = 0, mid_count = 0, near_count = 0, cost = 0;
        // The walk begins with the cells that the walk for the set has left, or else with the root.
#if SET
        const uint set = begin / SET;
        const uint4 of_set = sets[set];
        const uint left = of_set.x;
        // Only one group of the set counts the work of the set's walk.
        if (begin % SET == 0)
            done += (uint4)(0, 0, of_set.zw);
        cost += of_set.z;
#else
        const uint left = 1;
#endif
        int height = 0;
        uint next = 0;
        while (height > 0 || next < left) {
            sync_warp();
            const int popped = min(min(height, WARP), max(1, (STACK - 160 - height) / 7));
            const int added = height > popped ? 0 : min((int)(left - next), WARP - popped);
            height -= popped;
            const bool active = (int)lane < popped + added;
            uint id = (int)lane < popped ? stack[height + lane] : 0;
#if SET
            if (active && (int)lane >= popped && of_set.y == 0)
                id = left_cells[set * MOST_LEFT + next + lane - popped];
#endif
            next += added;
            const float4 c = cells[ROWS * id], b = cells[ROWS * id + 1];
            const uint first = as_uint(b.z), count = as_uint(b.w) & ~INNER;
            const bool inner = (as_uint(b.w) & INNER) != 0;
            bool accepted = active;
#pragma unroll
            for (uint k = 0; k < OWN; ++k)
                accepted &= accepts(boxes[2 * k], boxes[2 * k + 1].xyz, c, b.y, angle, eps2);
#if EXPANSIONS
            const bool far = accepted & is_far(centre, radius, far_share * limit, c, b.y, far_eps2);
#else
            const bool far = false;
#endif
            const bool direct = active && !inner && !far && (!accepted || count <= FEW_BODIES);
            const bool mid = accepted && !far && !direct, open = active && !accepted && inner;
            done.w += popped + added;

            height = push_children(stack, height, open ? count : 0, first, lane, scratch);
            // After the last cell, evaluates what remains in the lists.
            const bool last = height == 0 && next == left;
#if EXPANSIONS
            const uint far_bits = ballot(far, scratch);
            if (far)
                far_list[far_count + popcount(far_bits & before)] = id;
            far_count += popcount(far_bits);
            done.z += popcount(far_bits);
            cost += popcount(far_bits);
            while (far_count >= (last ? 1 : WARP)) {
                sync_warp();
                const uint cell = far_list[lane], rest = far_list[lane + WARP];
                if (lane < far_count)
                    expand(s, centre, radius, cells[ROWS * cell], cells[ROWS * cell + 1], cells[ROWS * cell + 2],
                           traces[cell], far_eps2);
                far_count -= min(far_count, (uint)WARP);
                sync_warp();
                far_list[lane] = rest;
            }
#endif
            const uint mid_bits = ballot(mid, scratch);
            if (mid)
                mid_list[mid_count + popcount(mid_bits & before)] = id;
            mid_count += popcount(mid_bits);
            done.y += popcount(mid_bits) * size;
            cost += popcount(mid_bits);
            while (mid_count >= (last ? 1 : WARP)) {
                sync_warp();
                const bool inside = lane < mid_count;
                const uint cell = inside ? mid_list[lane] : 0, rest = mid_list[lane + WARP];
                tile[lane] = inside ? cells[ROWS * cell] : NOWHERE;
#if ORDER >= 2
                tile[lane + WARP] = inside ? cells[ROWS * cell + 1] : (float4)(0.0f);
                tile[lane + 2 * WARP] = inside ? cells[ROWS * cell + 2] : (float4)(0.0f);
                tile_traces[lane] = inside ? traces[cell] : 0.0f;
#endif
                sync_warp();
                attract_to_cells(&own, tile, tile_traces, team, eps2);
                mid_count -= min(mid_count, (uint)WARP);
                mid_list[lane] = rest;
            }
            if (ballot(direct, scratch) || last) {
                // Lists the bodies of all leaves one after another, at most NEAR_ROOM at a time.
                const uint own_count = direct ? count : 0, past = scan_warp(own_count, lane, scratch);
                const uint all = shuffle_(past, WARP - 1, scratch), start = past - own_count;
                done.x += all * size;
                cost += all;
                uint listed = 0;
                do {
                    const uint some = min(all - listed, (uint)NEAR_ROOM);
                    for (uint k = max(start, listed); k < min(past, listed + some); ++k)
                        near_list[near_count + k - listed] = first + k - start;
                    near_count += some;
                    listed += some;
                    const uint least_count = last && listed == all ? 1 : 2 * WARP;
                    uint evaluated = 0;
                    sync_warp();
                    for (; evaluated + least_count <= near_count; evaluated += 2 * WARP) {
                        __local const uint *list = near_list + evaluated;
                        tile[lane] = evaluated + lane < near_count ? bodies[list[lane]] : NOWHERE;
                        tile[lane + WARP] = evaluated + lane + WARP < near_count ? bodies[list[lane + WARP]] : NOWHERE;
                        sync_warp();
                        attract_to_bodies(&own, tile, list, begin + slot, team, eps2);
                        sync_warp();
                    }
                    if (evaluated > 0) {
                        const uint rest = near_list[evaluated + lane], more = near_list[evaluated + lane + WARP];
                        near_count -= min(near_count, evaluated);
                        sync_warp();
                        near_list[lane] = rest;
                        near_list[lane + WARP] = more;
                        sync_warp();
                    }
                } while (listed < all);
            }
        }
#if EXPANSIONS
#pragma unroll
        for (uint k = 0; k < TERMS; ++k)
            for (uint step = WARP / 2; step > 0; step /= 2)
                s[k] += shuffle_float(s[k], lane ^ step, scratch);
#endif
#pragma unroll
        for (uint k = 0; k < OWN; ++k) {
            for (uint step = LANES_OF_TEAM; step < WARP; step *= 2) {
                own.a[k].x += shuffle_float(own.a[k].x, lane ^ step, scratch);
                own.a[k].y += shuffle_float(own.a[k].y, lane ^ step, scratch);
                own.a[k].z += shuffle_float(own.a[k].z, lane ^ step, scratch);
                own.potential[k] += shuffle_float(own.potential[k], lane ^ step, scratch);
            }
        }
#if EXPANSIONS
        evaluate(s, centre, radius, &own);
#if SET
        __global const float *field = fields + set * FIELD;
#pragma unroll
        for (uint k = 0; k < TERMS; ++k)
            s[k] = field[k];
        evaluate(s, vload3(0, field + TERMS), field[TERMS + 3], &own);
#endif
#endif
#pragma unroll
        for (uint k = 0; k < OWN; ++k) {
            const uint at = slot + k * LANES_OF_TEAM;
            if (team == 0 && at < size) {
                const uint id = ids[begin + at];
#ifdef POTENTIAL
                phi[id] = real_of(own.potential[k]);
#else
                sums[id] = (float4)(own.a[k], (float)cost);
#endif
            }
        }
    }
    if (lane == 0)
        work[get_global_id(0) / WARP] = done;
}
