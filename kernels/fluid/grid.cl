// Where the nine speeds of a cell lie in memory, and who works on which cell.
//
// Without PLANES they lie together, cell by cell; with it, each speed has a plane of its own. With GHOST > 0 each row
// has so many columns before its first cell and some behind its last, and the nearest of either hold what wraps
// around: then neighbours in a row are always one place apart. With HALVES a number is kept in 16 bits, over ρ₀ and scaled so
// that slow flows do not fall below what 16 bits tell apart (Lehmann et al. 2022, Phys. Rev. E 106, 015308: FP16S).
#ifndef GHOST
#define GHOST 0
#endif

#ifdef HALVES
typedef half stored;
#define FINENESS 32768.0f
#else
typedef float stored;
#endif

// Numbers of columns and rows; places from row to row and from plane to plane; the density that rests.
typedef struct {
    uint nx, ny, stride, plane;
    float rest;
} Grid;

#define GRID const uint nx, const uint ny, const uint stride, const uint plane, const float rest
#define THE_GRID { nx, ny, stride, plane, rest }

// Of what there is one a cell.
INLINED uint single(const Grid *g, uint x, uint y)
{
    return y * g->stride + GHOST + x;
}

INLINED uint at(const Grid *g, uint speed, uint x, uint y)
{
#ifdef PLANES
    return speed * g->plane + single(g, x, y);
#else
    return single(g, x, y) * 9 + speed;
#endif
}

INLINED wide number(const Grid *g, __global const stored *f, uint speed, uint x, uint y)
{
#ifdef HALVES
    return vload_half(at(g, speed, x, y), f) * (g->rest * (1.0f / FINENESS));
#else
    return LOAD(f + at(g, speed, x, y));
#endif
}

INLINED uint west_of(const Grid *g, uint x)
{
#if GHOST
    return x - 1;
#elif defined(INLET)
    return x > 0 ? x - 1 : 0;
#else
    return x > 0 ? x - 1 : g->nx - 1;
#endif
}

INLINED uint east_of(const Grid *g, uint x)
{
#if GHOST
    return x + 1;
#elif defined(INLET)
    return x + 1 < g->nx ? x + 1 : x;
#else
    return x + 1 < g->nx ? x + 1 : 0;
#endif
}

// What reaches the cells at (x, y) from around them. The grid wraps around; with INLET only upwards: there what leaves
// at the right is gone, and what comes back is what came back before (no change across the edge).
INLINED void pull(Cell *n, const Grid *g, __global const stored *f, uint x, uint y, COEFFICIENTS c)
{
    const uint west = west_of(g, x), east = east_of(g, x);
    const uint south = y > 0 ? y - 1 : g->ny - 1, north = y + 1 < g->ny ? y + 1 : 0;
    n->f0 = number(g, f, 0, x, y);
    n->f1 = number(g, f, 1, west, y);
    n->f2 = number(g, f, 2, x, south);
    n->f3 = number(g, f, 3, east, y);
    n->f4 = number(g, f, 4, x, north);
    n->f5 = number(g, f, 5, west, south);
    n->f6 = number(g, f, 6, east, south);
    n->f7 = number(g, f, 7, east, north);
    n->f8 = number(g, f, 8, west, north);
#ifdef INLET
    if (x == 0)
        enter(n, c);
#endif
}

INLINED void get(Cell *n, const Grid *g, __global const stored *f, uint x, uint y)
{
    n->f0 = number(g, f, 0, x, y);
    n->f1 = number(g, f, 1, x, y);
    n->f2 = number(g, f, 2, x, y);
    n->f3 = number(g, f, 3, x, y);
    n->f4 = number(g, f, 4, x, y);
    n->f5 = number(g, f, 5, x, y);
    n->f6 = number(g, f, 6, x, y);
    n->f7 = number(g, f, 7, x, y);
    n->f8 = number(g, f, 8, x, y);
}

INLINED void put_speed(const Grid *g, __global stored *f, uint speed, uint x, uint y, wide v, uint noise)
{
    __global stored *p = f + at(g, speed, x, y);
#ifdef HALVES
    // 13 random bits below the last one that is kept: the sum, cut off, goes up as often as the value says. What 16 bits cannot
    // hold becomes infinite, so that a flow that blows up is noticed.
    const uint below = (noise * (2 * speed + 0x9e3779b9u)) >> 19;
    const float scaled = v * (FINENESS / g->rest);
    vstore_half_rtz(fabs(scaled) < 65504.0f ? as_float(as_uint(scaled) + below) : scaled * INFINITY, 0, p);
#elif LANES == 1
    *p = v;
#else
    if (x + LANES <= g->nx) {
#if LANES == 16
        vstore16(v, 0, p);
#else
        vstore8(v, 0, p);
#endif
    } else {
        const union {
            wide all;
            float one[LANES];
        } lanes = { v };
        for (uint k = 0; x + k < g->nx; ++k)
            p[k] = lanes.one[k];
    }
#endif
#if GHOST
    // Whoever writes a cell at an end writes what wraps around from there.
    const uint last = g->nx - 1;
#ifdef INLET
    const uint before = 0, behind = last;
#else
    const uint before = last, behind = 0;
#endif
    const bool east = speed == 1 || speed == 5 || speed == 8, west = speed == 3 || speed == 6 || speed == 7;
    if (east && x <= before && before < x + LANES)
        f[at(g, speed, 0, y) - 1] = f[at(g, speed, before, y)];
    if (west && x <= behind && behind < x + LANES)
        f[at(g, speed, last, y) + 1] = f[at(g, speed, behind, y)];
#endif
}

// Random bits that follow from what a cell holds and from its place, for rounding to 16 bits. Rounding to nearest would lose a push that
// is small beside the flow, since it rounds the same way in every step. The same run has the same noise.
INLINED uint noise_of(const Cell *c, uint place)
{
#ifdef HALVES
    const uint mixed = (as_uint(c->f1) ^ place * 0x9e3779b9u) * 0x85ebca6bu + as_uint(c->f6);
    return (mixed ^ mixed >> 15) * 0xc2b2ae35u | 1u;
#else
    return 0;
#endif
}

INLINED void put(const Grid *g, __global stored *f, uint x, uint y, const Cell *c)
{
    const uint noise = noise_of(c, single(g, x, y));
    put_speed(g, f, 0, x, y, c->f0, noise);
    put_speed(g, f, 1, x, y, c->f1, noise);
    put_speed(g, f, 2, x, y, c->f2, noise);
    put_speed(g, f, 3, x, y, c->f3, noise);
    put_speed(g, f, 4, x, y, c->f4, noise);
    put_speed(g, f, 5, x, y, c->f5, noise);
    put_speed(g, f, 6, x, y, c->f6, noise);
    put_speed(g, f, 7, x, y, c->f7, noise);
    put_speed(g, f, 8, x, y, c->f8, noise);
}

#ifdef WORK_GROUP
// A work-group is WIDTH items wide and as high as it can be with what is left, of LANES cells each; items without
// cells are beyond the last row.
#define HEIGHT (WORK_GROUP / WIDTH)

INLINED uint group_number(void)
{
    // Not get_group_id(), which begins anew with every slice of a pass.
    return get_global_id(0) / WORK_GROUP;
}

INLINED uint2 place_of_item(const Grid *g)
{
    const uint group = group_number(), lane = get_local_id(0);
    const uint across = (g->nx + WIDTH * LANES - 1) / (WIDTH * LANES);
    const uint x = ((group % across) * WIDTH + lane % WIDTH) * LANES;
    const uint y = lane / WIDTH < HEIGHT ? (group / across) * HEIGHT + lane / WIDTH : g->ny;
    return (uint2)(x, y);
}

// Adds up `x` over the work-group into `*sum`, in two stages: barriers cost more than additions. Every item must come
// here.
#define SHARES 16

INLINED void store_group_sum(float x, __local float *scratch, __global float *sum)
{
    const uint lane = get_local_id(0);
    scratch[lane] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < SHARES) {
        // Nobody else looks at every SHARES-th.
        for (uint k = lane + SHARES; k < WORK_GROUP; k += SHARES)
            scratch[lane] += scratch[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
        for (uint k = 1; k < min(SHARES, WORK_GROUP); ++k)
            scratch[0] += scratch[k];
        *sum = scratch[0];
    }
}
#endif
