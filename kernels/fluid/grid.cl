// Memory layout of the nine populations, and the assignment of cells to work-items.
//
// Without PLANES, the populations of a cell are adjacent in memory; with PLANES, each population has a separate array
// (plane). With GHOST > 0, each row has GHOST extra columns before its first cell and some after its last cell; the
// extra columns next to the cells hold copies of the cells that wrap around, so that neighbours in a row are always
// adjacent. With HALVES, numbers are stored in 16 bits, divided by ρ₀ and scaled so that 16 bits resolve slow flows
// (Lehmann et al. 2022, Phys. Rev. E 106, 015308: FP16S).
#ifndef GHOST
#define GHOST 0
#endif

#ifdef HALVES
typedef half stored;
#define FINENESS 32768.0f
#else
typedef float stored;
#endif

// Description of the grid: numbers of columns and rows, distance between rows and between planes, density at rest.
typedef struct {
    uint nx, ny, stride, plane;
    float rest;
} Grid;

#define GRID const uint nx, const uint ny, const uint stride, const uint plane, const float rest
#define THE_GRID { nx, ny, stride, plane, rest }

// Returns the index of a cell in buffers with one number per cell.
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

// Gathers the populations that stream into the cells at (x, y) from their neighbours. The grid wraps around. With
// INLET, it wraps around only vertically: populations that leave at the right are lost, and populations that enter
// there are copied from the last column (no gradient across the edge).
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
    // Stochastic rounding: adds 13 random bits below the last stored bit and truncates. Values too large for 16 bits
    // become infinite, so that a flow that blows up is noticed.
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
    // The work-item that writes the first or last cell of a row also writes the ghost copy of the cell.
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

// Returns random bits for rounding to 16 bits, derived from the cell's populations and index, so that runs are
// reproducible. Rounding to nearest would lose a force that is small compared to the flow, because it would round the
// same way in every step.
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
// A work-group is WIDTH work-items wide and HEIGHT work-items high; a work-item has LANES cells. Work-items that do not
// fit into the rectangle get a row beyond the grid.
#define HEIGHT (WORK_GROUP / WIDTH)

INLINED uint group_number(void)
{
    // Does not use get_group_id(), which restarts at 0 in every slice of a pass.
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

// Writes the sum of `x` over the work-group to `*sum`, in two stages, because barriers cost more than additions. Every
// item of the work-group must call this function.
#define SHARES 16

INLINED void store_group_sum(float x, __local float *scratch, __global float *sum)
{
    const uint lane = get_local_id(0);
    scratch[lane] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < SHARES) {
        // Each work-item reads and writes only its own share: every SHARES-th number.
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
