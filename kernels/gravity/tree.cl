// Walks the tree on a CPU for groups of neighbouring bodies, and sums the forces. For GPUs, see tree/gpu/walk.cl.
//
// A task processes a set of SETS groups of GROUP bodies. It first walks from the root for the whole set: cells that are
// far from the set act on one expansion, and cells that are larger than the set are opened. Each group then tests the
// remaining cells on its own. An accepted cell acts on each body of the group or, if it is far, on an expansion around
// the group's centre. Cells that are not accepted are opened, down to their bodies.
//
// A cell of mass M and radius r at the distance d is accepted if M/d² (r/d)³, the size of the first term that its
// quadrupole leaves out, plus an estimate of the rounding error, is at most `opening` times the smallest acceleration
// in the group (without G), and r/d is below LARGEST_ANGLE. Accepted leaves of at most FEW_BODIES bodies act body by
// body. A far cell is at least FAR_RADII group radii away, and the estimated error of its expansion is at most
// `far_share` times the error allowed for an accepted cell. FAR_SOFTENING is the weight of the part due to softening.
// The host defines these constants.
//
// The host also defines the method: ORDER 2 or, without quadrupoles, 0; ACCELERATION_CRITERION 1, or 0 to accept cells
// by r/d alone, if it is below `angle_of`; EXPANSIONS 1, or 0 so that all accepted cells act on bodies. The rules for
// cells do not depend on ORDER.

#define VECTORS (GROUP / 16)
#define SETS (SET > GROUP ? SET / GROUP : 1)
// Capacities of the lists: cells that act on an expansion, cells that a set hands to its groups, and leaves that act
// body by body.
#define FAR_ROOM 256
#define HANDED_ROOM 4096
#define NEAR_ROOM 1024
// A queue longer than this is emptied from its end, so that it grows by at most 14 cells per level of the tree.
#define QUEUE_LENGTH 1024
#define QUEUE_ROOM (QUEUE_LENGTH + 14 * 288)

// Queue of the links of cells to be opened.
typedef struct {
    uint head, tail;
    uint links[QUEUE_ROOM];
} Queue;

// Number of columns of a cell that a walk tests, and number that a set keeps for its groups. With expansions, it keeps
// the moments too.
#define TESTED_COLUMNS (CELL_RADIUS + 1)
#if EXPANSIONS
#define KEPT_COLUMNS CELL_COLUMNS
#else
#define KEPT_COLUMNS TESTED_COLUMNS
#endif

// List of far cells, with one column for each of the CELL_COLUMNS values that describe a cell.
typedef struct {
    uint count;
    float columns[CELL_COLUMNS * FAR_ROOM];
} FarCells;

typedef struct {
    uint count;
    float columns[KEPT_COLUMNS * HANDED_ROOM];
    uint links[HANDED_ROOM], ids[HANDED_ROOM];
} HandedCells;

// Bounds of the bodies that share a walk: the centre of their box, half its size, their largest distance from the
// centre, the largest allowed error of a cell (divided by M/d² if cells are accepted by their angle alone), and the
// largest allowed ratio of a cell's radius to its distance.
typedef struct {
    float x, y, z, wx, wy, wz, radius, limit, angle;
} Target;

// Number of terms of an expansion, the field of far cells around the centre of a group: derivatives of the potential of
// the orders 1 to 4, in units of the group's radius, and the potential. Derivatives that follow from the others and the
// trace are left out:
//   x y z; xx xy xz yy yz; xxx xxy xyy yyy xxz xyz yyz; xxxx xxxy xxyy xyyy yyyy xxxz xxyz xyyz yyyz.
// The trace is zero without softening. With softening, the next terms are minus the trace of order 2, and the three
// traces of order 3. The traces of order 4 are neglected.
#ifdef POTENTIAL
#define TERMS 29
#else
#define TERMS 28
#endif

// A group of bodies as VECTORS vectors, with their sums: accelerations, or potentials divided by -G. `first` is the
// position of the first body in the sorted order.
typedef struct {
    Columns columns[VECTORS];
    float16 potential[VECTORS];
    uint first;
} Group;

void push(Queue *queue, uint16 links, uint bits)
{
    if (queue->tail > QUEUE_ROOM - 16) {
        const uint left = queue->tail - queue->head;
        for (uint k = 0; k < left; ++k)
            queue->links[k] = queue->links[queue->head + k];
        queue->head = 0;
        queue->tail = left;
    }
    append_ids(links, bits, queue->links + queue->tail);
    queue->tail += popcount(bits);
}

// Removes up to two cells from a queue and returns their links. The second link is 0 if the queue has only one cell.
uint2 take(Queue *queue)
{
    const uint left = queue->tail - queue->head;
    if (left > QUEUE_LENGTH) {
        queue->tail -= 2;
        return (uint2)(queue->links[queue->tail], queue->links[queue->tail + 1]);
    }
    const uint2 links = (uint2)(queue->links[queue->head], left > 1 ? queue->links[queue->head + 1] : 0);
    queue->head += min(left, 2u);
    return links;
}

// The children of two cells: the first child of each, which of the 16 lanes hold a child, and the children's links and
// ids.
typedef struct {
    uint a, b;
    int16 valid;
    uint16 links, ids;
} Family;

Family children_of(uint2 cells, __global const uint *links)
{
    Family f;
    f.a = FIRST_OF(cells.x);
    f.b = FIRST_OF(cells.y);
    f.valid = LANE < (int16)((int8)((int)COUNT_OF(cells.x)), (int8)((int)COUNT_OF(cells.y) + 8));
    f.links = (uint16)(vload8(0, links + f.a), vload8(0, links + f.b));
    f.ids = as_uint16(LANE) + (uint16)((uint8)(f.a), (uint8)(f.b - 8));
    return f;
}

// Loads the columns from `first` to `end` of the cells of a family.
void load_family(Family f, __global const float *cells, uint stride, uint first, uint end, float16 *values)
{
#pragma unroll
    for (uint k = first; k < end; ++k)
        values[k] = (float16)(vload8(0, cells + k * stride + f.a), vload8(0, cells + k * stride + f.b));
}

// Loads the columns from `first` to `end` of 16 cells that a set has handed to its groups, from number `at` on.
void load_handed(const HandedCells *handed, uint at, uint first, uint end, float16 *values)
{
#pragma unroll
    for (uint k = first; k < end; ++k)
        values[k] = vload16(0, handed->columns + k * HANDED_ROOM + at);
}

// For 16 cells: whether a target accepts the cell, and whether the cell is far enough to act on the target's expansion.
typedef struct {
    int16 accepted, far;
} Verdict;

Verdict judge(const Target *t, float16 x, float16 y, float16 z, float16 mass, float16 radius, float far_share,
              float eps2)
{
    const float16 dx = x - t->x, dy = y - t->y, dz = z - t->z;
    const float16 gx = fmax(fabs(dx) - t->wx, 0.0f), gy = fmax(fabs(dy) - t->wy, 0.0f);
    const float16 gz = fmax(fabs(dz) - t->wz, 0.0f);
    const float16 gap2 = fma(gx, gx, fma(gy, gy, gz * gz));
    const float16 near = root(gap2), size = radius * near;
    Verdict v;
#if ACCELERATION_CRITERION
    // Includes the rounding error of the centre of mass, which does not average out.
    const float16 rounding = ROUNDING * fmax(fabs(x), fmax(fabs(y), fabs(z))) * near;
    v.accepted = (size < t->angle) & (mass * near * near * fma(size * size, size, rounding) <= t->limit);
#else
    v.accepted = size < t->angle;
#endif
#ifdef SOFTENING_CLAMP
    v.accepted &= gap2 > eps2;
#endif
#if EXPANSIONS
    const float16 d2 = fma(dx, dx, fma(dy, dy, dz * dz)), away = root(d2);
    const float16 own = t->radius * away, other = radius * away;
    const float16 own2 = own * own, other2 = other * other, soft = FAR_EPS2(eps2) * away * away;
    const float16 missed = own2 * fma((float16)(2.0f), other2, fma(FAR_SOFTENING * soft, own + other2, own2));
#if ACCELERATION_CRITERION
    v.far = v.accepted & (own * FAR_RADII < 1.0f) & (mass * away * away * missed <= far_share * t->limit);
#else
    v.far = v.accepted & (own * FAR_RADII < 1.0f) & (missed <= far_share * t->limit);
#endif
#else
    v.far = 0;
#endif
    return v;
}

// Appends those of 16 cells whose bits are set to a list of `count` cells. Each column of the list has room for `room`
// cells.
void append_cells(float *columns, uint room, uint count, const float16 *values, uint bits)
{
#pragma unroll
    for (uint k = 0; k < KEPT_COLUMNS; ++k)
        append(values[k], bits, columns + k * room + count);
}

#if EXPANSIONS
// Adds the field of the first `count` cells of a list to an expansion. If they do not fill the last vector, overwrites
// the list beyond them.
void expand(FarCells *far, uint count, const Target *t, float eps2, float16 *terms)
{
    if (count % 16 != 0) {
        // Fills up the last vector with copies of the first cell, with mass 0. Undefined memory might give NaN even
        // with mass 0.
        for (uint k = 0; k < CELL_COLUMNS; ++k)
            vstore16((float16)(k == CELL_MASS ? 0.0f : far->columns[k * FAR_ROOM]), 0, far->columns + k * FAR_ROOM + count);
    }
    float16 s[TERMS];
#pragma unroll
    for (uint k = 0; k < TERMS; ++k)
        s[k] = terms[k];
    for (uint i = 0; i < count; i += 16) {
#define COLUMN(column) vload16(0, far->columns + (column) * FAR_ROOM + i)
        const float16 dx = t->x - COLUMN(CELL_X), dy = t->y - COLUMN(CELL_Y), dz = t->z - COLUMN(CELL_Z);
        const float16 v = inverse_root(fma(dx, dx, fma(dy, dy, fma(dz, dz, FAR_EPS2(eps2)))));
        const float16 soft = FAR_EPS2(eps2) * v * v;
#if ORDER >= 2
        // The direction to the centre, the quadrupole divided by r², and the product of the two.
        const float16 x = dx * v, y = dy * v, z = dz * v, size = COLUMN(CELL_RADIUS) * v, size2 = size * size;
        const float16 xx = COLUMN(CELL_XX) * size2, xy = COLUMN(CELL_XY) * size2, xz = COLUMN(CELL_XZ) * size2;
        const float16 yy = COLUMN(CELL_YY) * size2, yz = COLUMN(CELL_YZ) * size2;
        const float16 ux = fma(xx, x, fma(xy, y, xz * z)), uy = fma(xy, x, fma(yy, y, yz * z));
        const float16 uz = fma(xz, x, fma(yz, y, -(xx + yy) * z));
        const float16 trace = COLUMN(CELL_TRACE) * size2 * soft;
        const float16 w = fma(ux, x, fma(uy, y, fma(uz, z, -trace)));
#else
        const float16 x = dx * v, y = dy * v, z = dz * v;
#endif
        const float16 m1 = COLUMN(CELL_MASS) * v * v;
        const float16 step = t->radius * v, m2 = m1 * step, m3 = m2 * step, m4 = m3 * step;
        const float16 x2 = x * x, y2 = y * y;
#if ORDER >= 2
        const float16 along = 1.0f + 2.5f * w;
        s[0] += m1 * (ux - x * along);
        s[1] += m1 * (uy - y * along);
        s[2] += m1 * (uz - z * along);
        const float16 h = fma((float16)(17.5f), w, 3.0f);
        s[3] += m2 * (xx + fma(x2, h, -along) - 10.0f * ux * x);
        s[4] += m2 * (fma(x * y, h, xy) - 5.0f * fma(ux, y, uy * x));
        s[5] += m2 * (fma(x * z, h, xz) - 5.0f * fma(ux, z, uz * x));
        s[6] += m2 * (yy + fma(y2, h, -along) - 10.0f * uy * y);
        s[7] += m2 * (fma(y * z, h, yz) - 5.0f * fma(uy, z, uz * y));
        s[24] += m2 * fma(soft, h, 10.0f * trace);
#else
        s[0] -= m1 * x;
        s[1] -= m1 * y;
        s[2] -= m1 * z;
        s[3] += m2 * fma((float16)(3.0f), x2, -1.0f);
        s[4] += m2 * 3.0f * x * y;
        s[5] += m2 * 3.0f * x * z;
        s[6] += m2 * fma((float16)(3.0f), y2, -1.0f);
        s[7] += m2 * 3.0f * y * z;
        s[24] += m2 * 3.0f * soft;
#endif
        const float16 ex = 3.0f - 15.0f * x2, ey = 3.0f - 15.0f * y2;
        s[8] += m3 * x * (ex + 6.0f);
        s[9] += m3 * y * ex;
        s[10] += m3 * x * ey;
        s[11] += m3 * y * (ey + 6.0f);
        s[12] += m3 * z * ex;
        s[13] -= m3 * 15.0f * x * y * z;
        s[14] += m3 * z * ey;
        const float16 fx = 105.0f * x2, fy = 105.0f * y2;
        s[15] += m4 * fma(x2, fx - 90.0f, 9.0f);
        s[16] += m4 * x * y * (fx - 45.0f);
        s[17] += m4 * (fma(x2, fy, 3.0f) - 15.0f * (x2 + y2));
        s[18] += m4 * x * y * (fy - 45.0f);
        s[19] += m4 * fma(y2, fy - 90.0f, 9.0f);
        s[20] += m4 * x * z * (fx - 45.0f);
        s[21] += m4 * y * z * (fx - 15.0f);
        s[22] += m4 * x * z * (fy - 15.0f);
        s[23] += m4 * y * z * (fy - 45.0f);
        const float16 g = 15.0f * soft * m3;
        s[25] += g * x;
        s[26] += g * y;
        s[27] += g * z;
#if defined(POTENTIAL) && ORDER >= 2
        s[28] += COLUMN(CELL_MASS) * v * fma((float16)(0.5f), w, 1.0f);
#elif defined(POTENTIAL)
        s[28] += COLUMN(CELL_MASS) * v;
#endif
#undef COLUMN
    }
#pragma unroll
    for (uint k = 0; k < TERMS; ++k)
        terms[k] = s[k];
}

// Makes room in a list of cells that is nearly full: adds the field of its full vectors to the expansion and removes
// them.
void make_room(FarCells *far, const Target *t, float eps2, float16 *terms)
{
    if (far->count <= FAR_ROOM - 32)
        return;
    const uint whole = far->count & ~15u;
    expand(far, whole, t, eps2, terms);
    for (uint k = 0; k < CELL_COLUMNS; ++k)
        vstore16(vload16(0, far->columns + k * FAR_ROOM + whole), 0, far->columns + k * FAR_ROOM);
    far->count -= whole;
}

// Adds the field of an expansion to the sums of vector k of a group. `s` holds the terms of the expansion around the
// target's centre.
void evaluate(const Target *t, const float *s, Group *group, uint k)
{
    Columns *c = &group->columns[k];
    const float scale = t->radius > 0.0f ? 1.0f / t->radius : 0.0f;
    const float16 x = (c->x - t->x) * scale, y = (c->y - t->y) * scale, z = (c->z - t->z) * scale;
    const float zz = -s[3] - s[6] - s[24];
    const float xzz = s[25] - s[8] - s[10], yzz = s[26] - s[9] - s[11], zzz = s[27] - s[12] - s[14];
    const float xxzz = -s[15] - s[17], xyzz = -s[16] - s[18], yyzz = -s[17] - s[19];
    const float xzzz = -s[20] - s[22], yzzz = -s[21] - s[23], zzzz = -xxzz - yyzz;
    const float16 xx = 0.5f * x * x, yy = 0.5f * y * y, z2 = 0.5f * z * z, xy = x * y, xz = x * z, yz = y * z;
    const float16 x3 = x * xx * (1.0f / 3.0f), y3 = y * yy * (1.0f / 3.0f), z3 = z * z2 * (1.0f / 3.0f);
    const float16 xxy = xx * y, xxz = xx * z, xyy = x * yy, yyz = yy * z, xz2 = x * z2, yz2 = y * z2, xyz = xy * z;
#ifdef POTENTIAL
    group->potential[k] += s[28] + t->radius * (s[0] * x + s[1] * y + s[2] * z + s[3] * xx + s[4] * xy + s[5] * xz
        + s[6] * yy + s[7] * yz + zz * z2 + s[8] * x3 + s[9] * xxy + s[10] * xyy + s[11] * y3 + s[12] * xxz + s[13] * xyz
        + s[14] * yyz + xzz * xz2 + yzz * yz2 + zzz * z3 + 0.25f * (s[15] * x3 * x + s[19] * y3 * y + zzzz * z3 * z)
        + s[16] * x3 * y + s[18] * x * y3 + s[20] * x3 * z + s[23] * y3 * z + xzzz * x * z3 + yzzz * y * z3
        + s[17] * xx * yy + xxzz * xx * z2 + yyzz * yy * z2 + s[21] * xx * yz + s[22] * yy * xz + xyzz * z2 * xy);
#else
    c->ax += s[0] + s[3] * x + s[4] * y + s[5] * z + s[8] * xx + s[9] * xy + s[10] * yy + s[12] * xz + s[13] * yz
        + xzz * z2 + s[15] * x3 + s[16] * xxy + s[17] * xyy + s[18] * y3 + s[20] * xxz + s[21] * xyz + s[22] * yyz
        + xxzz * xz2 + xyzz * yz2 + xzzz * z3;
    c->ay += s[1] + s[4] * x + s[6] * y + s[7] * z + s[9] * xx + s[10] * xy + s[11] * yy + s[13] * xz + s[14] * yz
        + yzz * z2 + s[16] * x3 + s[17] * xxy + s[18] * xyy + s[19] * y3 + s[21] * xxz + s[22] * xyz + s[23] * yyz
        + xyzz * xz2 + yyzz * yz2 + yzzz * z3;
    c->az += s[2] + s[5] * x + s[7] * y + zz * z + s[12] * xx + s[13] * xy + s[14] * yy + xzz * xz + yzz * yz
        + zzz * z2 + s[20] * x3 + s[21] * xxy + s[22] * xyy + s[23] * y3 + xxzz * xxz + xyzz * xyz + yyzz * yyz
        + xzzz * xz2 + yzzz * yz2 + zzzz * z3;
#endif
}

#endif

// Adds the accelerations due to the cells of a list to the sums of each body of a group.
void attract_to_cells(Group *group, __global const float *cells, uint stride, const uint *list, uint count, float eps2)
{
    for (uint i = 0; i < count; ++i) {
#define OF(column) cells[(column) * stride + list[i]]
#if ORDER >= 2
        const float mass = OF(CELL_MASS), radius = OF(CELL_RADIUS), trace = OF(CELL_TRACE) * eps2;
        const float xx = OF(CELL_XX), xy = OF(CELL_XY), xz = OF(CELL_XZ), yy = OF(CELL_YY), yz = OF(CELL_YZ);
        const float cx = OF(CELL_X), cy = OF(CELL_Y), cz = OF(CELL_Z), zz = -(xx + yy);
#else
        const float4 cell = (float4)(OF(CELL_X), OF(CELL_Y), OF(CELL_Z), OF(CELL_MASS));
#endif
#undef OF
#pragma unroll
        for (uint k = 0; k < VECTORS; ++k) {
#if ORDER < 2
#ifdef POTENTIAL
            const Columns *c = &group->columns[k];
            group->potential[k] +=
                cell.w * inverse_root(softened(cell.x - c->x, cell.y - c->y, cell.z - c->z, eps2));
#else
            attract_columns(&group->columns[k], cell, eps2);
#endif
#else
            Columns *c = &group->columns[k];
            const float16 dx = cx - c->x, dy = cy - c->y, dz = cz - c->z;
            const float16 v = inverse_root(softened(dx, dy, dz, eps2));
            const float16 x = dx * v, y = dy * v, z = dz * v, v2 = v * v;
            const float16 ux = fma((float16)(xx), x, fma((float16)(xy), y, xz * z));
            const float16 uy = fma((float16)(xy), x, fma((float16)(yy), y, yz * z));
            const float16 uz = fma((float16)(xz), x, fma((float16)(yz), y, zz * z));
            // The softened potential is not harmonic, so the trace of the second moments contributes.
            const float16 w = fma(ux, x, fma(uy, y, fma(uz, z, -trace * v2)));
            const float16 size2 = radius * radius * v2;
#ifdef POTENTIAL
            group->potential[k] += mass * v * fma(0.5f * size2, w, 1.0f);
#else
            const float16 pull = mass * v2;
            const float16 along = fma(2.5f * size2, w, 1.0f) * pull, across = pull * size2;
            c->ax += fma(along, x, -across * ux);
            c->ay += fma(along, y, -across * uy);
            c->az += fma(along, z, -across * uz);
#endif
#endif
        }
    }
}

#ifdef POTENTIAL
// Returns the potential of a body of mass 1 divided by -G, from the squared distance; see `potential_of` in measure.cl.
float16 potential_of(float16 r2, float eps2)
{
#ifdef SOFTENING_CLAMP
    const float inner = 1.0f / sqrt(eps2);
    return select(inner * (1.5f - 0.5f * r2 / eps2), inverse_root(fmax(r2, eps2)), r2 >= eps2);
#else
    return inverse_root(r2 + eps2);
#endif
}
#endif

// Adds the accelerations due to the bodies of some leaves to the sums of each body of a group. Returns the number of
// bodies in the leaves.
uint attract_to_leaves(Group *group, __global const float *bodies, uint stride, const uint *list, uint count, float eps2)
{
    uint all = 0;
    for (uint i = 0; i < count; ++i) {
        const uint begin = FIRST_OF(list[i]), end = begin + COUNT_OF(list[i]);
        for (uint j = begin; j < end; ++j) {
            const float4 other = (float4)(bodies[j], bodies[stride + j], bodies[2 * stride + j], bodies[3 * stride + j]);
#pragma unroll
            for (uint k = 0; k < VECTORS; ++k) {
#ifdef POTENTIAL
                const Columns *c = &group->columns[k];
                const float16 dx = other.x - c->x, dy = other.y - c->y, dz = other.z - c->z;
                const float16 one = other.w * potential_of(fma(dx, dx, fma(dy, dy, dz * dz)), eps2);
                const int16 itself = LANE == (int16)((int)j - (int)group->first - 16 * (int)k);
                group->potential[k] += select(one, (float16)(0.0f), itself);
#else
                attract_columns(&group->columns[k], other, eps2);
#endif
            }
        }
        all += end - begin;
    }
    return all;
}

// Returns the bounds of the bodies from `begin` to `end`, which share a walk. A negative `opening` is for bodies whose
// accelerations are not known: cells are then accepted by their angle alone.
Target target_of(uint begin, uint end, __global const float *bodies, uint stride, float opening)
{
    float16 low[3], high[3], least = INFINITY;
    for (uint k = 0; k < 3; ++k) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (uint i = begin; i < end; i += 16) {
        const int16 inside = LANE < (int16)((int)(end - i));
        for (uint k = 0; k < 3; ++k) {
            const float16 c = select((float16)(bodies[k * stride + begin]), vload16(0, bodies + k * stride + i), inside);
            low[k] = fmin(low[k], c);
            high[k] = fmax(high[k], c);
        }
        least = fmin(least, select((float16)(INFINITY), vload16(0, bodies + 4 * stride + i), inside));
    }
    float centre[3], half_[3];
    for (uint k = 0; k < 3; ++k) {
        const float a = smallest_of(low[k]), b = largest_of(high[k]);
        centre[k] = 0.5f * a + 0.5f * b;
        half_[k] = fmax(b - centre[k], centre[k] - a);
    }
    const float radius = radius_of(begin, end, centre[0], centre[1], centre[2], bodies, stride);
#if ACCELERATION_CRITERION
    const bool known = opening >= 0.0f;
    const Target t = { centre[0], centre[1], centre[2], half_[0], half_[1], half_[2], radius,
        known ? opening * smallest_of(least) : INFINITY, known ? LARGEST_ANGLE : FIRST_ANGLE };
#else
    const float angle = angle_of(opening);
    const Target t = { centre[0], centre[1], centre[2], half_[0], half_[1], half_[2], radius, angle * angle * angle, angle };
#endif
    return t;
}

// Computes the accelerations (without the factor G) of the bodies in SETS groups, and writes them in the order of the
// bodies' ids; with POTENTIAL, computes the potentials divided by -G instead. The fourth number of a result is the
// number of bodies and cells that act on the body. Walks only for sets that begin at the positions from `from` to `to`
// of the sorted order. `work` counts pairs of bodies, pairs of a cell and a body, cells that act on expansions, and
// tests of cells.
TASK void walk(const uint n, const uint from, const uint to, const uint stride, const uint cell_stride,
               const float opening, const float far_share, const float eps2, __global const float *bodies,
               __global const uint *ids, __global const float *cells, __global const uint *links, RESULTS,
               __global uint4 *work)
{
    const uint begin = get_global_id(0) * SETS * GROUP;
    if (begin < from || begin >= to) {
        work[get_global_id(0)] = (uint4)(0);
        return;
    }
    const uint end = min(n, begin + SETS * GROUP);
    uint4 done = (uint4)(0);
    Queue queue;
#if EXPANSIONS
    FarCells far;
    float16 terms[TERMS];
    float set_sums[TERMS];
#endif
    HandedCells handed;
    float16 values[KEPT_COLUMNS];

    Target set = target_of(begin, end, bodies, stride, opening);
    queue.head = 0;
    queue.tail = 1;
    queue.links[0] = links[0];
    // The walk begins by opening the root without a test.
#if EXPANSIONS
    far.count = handed.count = 0;
    for (uint k = 0; k < TERMS; ++k)
        terms[k] = 0.0f;
#else
    handed.count = 0;
#endif
    const float open_from = OPENED_RADII * set.radius;
    bool leaf_root = !(links[0] & INNER);
    while (queue.head < queue.tail && !leaf_root && handed.count <= HANDED_ROOM - 32) {
        const Family f = children_of(take(&queue), links);
        load_family(f, cells, cell_stride, 0, TESTED_COLUMNS, values);
        const Verdict v = judge(&set, values[CELL_X], values[CELL_Y], values[CELL_Z], values[CELL_MASS],
                                values[CELL_RADIUS], far_share, eps2);
        const int16 inner = as_int16(f.links) < (int16)(0);
        const int16 distant = f.valid & v.far;
#if EXPANSIONS && ACCELERATION_CRITERION
        const int16 open = f.valid & ~v.far & inner & (values[CELL_RADIUS] > open_from);
#else
        // Does not open cells that the set accepts: each group accepts them too, so that only few cells are handed to
        // the groups.
        const int16 open = f.valid & ~v.accepted & inner & (values[CELL_RADIUS] > open_from);
#endif
        const uint far_bits = bits_of(distant), open_bits = bits_of(open), kept = bits_of(f.valid & ~distant & ~open);
        done.w += popcount(bits_of(f.valid));
        if (open_bits)
            push(&queue, f.links, open_bits);
        if (far_bits | kept)
            load_family(f, cells, cell_stride, TESTED_COLUMNS, KEPT_COLUMNS, values);
#if EXPANSIONS
        if (far_bits) {
            append_cells(far.columns, FAR_ROOM, far.count, values, far_bits);
            far.count += popcount(far_bits);
            make_room(&far, &set, eps2, terms);
        }
#endif
        if (kept) {
            append_cells(handed.columns, HANDED_ROOM, handed.count, values, kept);
            append_ids(f.links, kept, handed.links + handed.count);
            append_ids(f.ids, kept, handed.ids + handed.count);
            handed.count += popcount(kept);
        }
        done.z += popcount(far_bits);
    }
#if EXPANSIONS
    expand(&far, far.count, &set, eps2, terms);
    for (uint k = 0; k < TERMS; ++k)
        set_sums[k] = sum_of(terms[k]);
#endif
    // Range of the queue with cells that found no room in the list of the set. Each group opens them.
    const uint rest_head = queue.head, rest_tail = leaf_root ? queue.head : queue.tail;
    const uint far_of_set = done.z;

    for (uint first = begin; first < end; first += GROUP) {
        const uint past = min(end, first + GROUP);
        const Target t = target_of(first, past, bodies, stride, opening);
        Group group;
        group.first = first;
        const uint4 before = done;
#pragma unroll
        for (uint k = 0; k < VECTORS; ++k) {
            const int16 inside = LANE < (int16)((int)(past - first) - 16 * (int)k);
            Columns *c = &group.columns[k];
            c->x = select((float16)(bodies[first]), vload16(k, bodies + first), inside);
            c->y = select((float16)(bodies[stride + first]), vload16(k, bodies + stride + first), inside);
            c->z = select((float16)(bodies[2 * stride + first]), vload16(k, bodies + 2 * stride + first), inside);
            c->ax = c->ay = c->az = group.potential[k] = 0.0f;
        }
        uint near[NEAR_ROOM], mid[FAR_ROOM], near_count = 0, mid_count = 0, at = 0;
        Queue own;
        own.head = 0;
        own.tail = rest_tail - rest_head;
        for (uint k = 0; k < own.tail; ++k)
            own.links[k] = queue.links[rest_head + k];
#if EXPANSIONS
        far.count = 0;
        for (uint k = 0; k < TERMS; ++k)
            terms[k] = 0.0f;
#endif
        if (leaf_root)
            near[near_count++] = links[0];
        for (;;) {
            // The cells that the set handed over come first, then the children of cells that the group opened, unless
            // the queue becomes long.
            const bool from_set = at < handed.count && own.tail - own.head <= QUEUE_LENGTH;
            Family f;
            if (from_set) {
                f.valid = LANE < (int16)((int)(handed.count - at));
                f.links = vload16(0, handed.links + at);
                f.ids = vload16(0, handed.ids + at);
                load_handed(&handed, at, 0, TESTED_COLUMNS, values);
                at += 16;
            } else if (own.head < own.tail) {
                f = children_of(take(&own), links);
                load_family(f, cells, cell_stride, 0, TESTED_COLUMNS, values);
            } else {
                break;
            }
            const Verdict v = judge(&t, values[CELL_X], values[CELL_Y], values[CELL_Z], values[CELL_MASS],
                                    values[CELL_RADIUS], far_share, eps2);
            const int16 inner = as_int16(f.links) < (int16)(0);
            const int16 few = as_int16(f.links & 63u) <= (int16)(FEW_BODIES);
            const int16 direct = f.valid & ~inner & ~v.far & (~v.accepted | few);
            const int16 whole = f.valid & v.accepted & ~v.far & ~direct;
            const uint open_bits = bits_of(f.valid & ~v.accepted & inner);
            const uint near_bits = bits_of(direct), mid_bits = bits_of(whole);
            done.w += popcount(bits_of(f.valid));
            if (open_bits)
                push(&own, f.links, open_bits);
            if (near_bits) {
                append_ids(f.links, near_bits, near + near_count);
                near_count += popcount(near_bits);
            }
            if (mid_bits) {
                append_ids(f.ids, mid_bits, mid + mid_count);
                mid_count += popcount(mid_bits);
                done.y += popcount(mid_bits) * (past - first);
            }
#if EXPANSIONS
            const uint far_bits = bits_of(f.valid & v.far);
            if (far_bits) {
                if (from_set)
                    load_handed(&handed, at - 16, TESTED_COLUMNS, KEPT_COLUMNS, values);
                else
                    load_family(f, cells, cell_stride, TESTED_COLUMNS, KEPT_COLUMNS, values);
                append_cells(far.columns, FAR_ROOM, far.count, values, far_bits);
                far.count += popcount(far_bits);
                done.z += popcount(far_bits);
                make_room(&far, &t, eps2, terms);
            }
#endif
            if (mid_count > FAR_ROOM - 16) {
                attract_to_cells(&group, cells, cell_stride, mid, mid_count, eps2);
                mid_count = 0;
            }
            if (near_count > NEAR_ROOM - 16) {
                done.x += (past - first) * attract_to_leaves(&group, bodies, stride, near, near_count, eps2);
                near_count = 0;
            }
        }
        attract_to_cells(&group, cells, cell_stride, mid, mid_count, eps2);
        done.x += (past - first) * attract_to_leaves(&group, bodies, stride, near, near_count, eps2);
#if EXPANSIONS
        expand(&far, far.count, &t, eps2, terms);
#endif
        const uint4 own_work = done - before;
        const float cost = far_of_set + own_work.z + (own_work.x + own_work.y) / (past - first);
#if EXPANSIONS
        float own_sums[TERMS];
        for (uint k = 0; k < TERMS; ++k)
            own_sums[k] = sum_of(terms[k]);
#endif
#pragma unroll
        for (uint k = 0; k < VECTORS; ++k) {
#if EXPANSIONS
            evaluate(&t, own_sums, &group, k);
            evaluate(&set, set_sums, &group, k);
#endif
            float ax[16], ay[16], az[16], potential[16];
            vstore16(group.columns[k].ax, 0, ax);
            vstore16(group.columns[k].ay, 0, ay);
            vstore16(group.columns[k].az, 0, az);
            vstore16(group.potential[k], 0, potential);
            for (uint lane = 0; lane < 16 && first + 16 * k + lane < past; ++lane) {
                const uint id = ids[first + 16 * k + lane];
#ifdef POTENTIAL
                phi[id] = real_of(potential[lane]);
#else
                sums[id] = (float4)(ax[lane], ay[lane], az[lane], cost);
#endif
            }
        }
    }
    work[get_global_id(0)] = done;
}
