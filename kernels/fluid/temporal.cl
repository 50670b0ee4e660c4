// Several steps per launch: a work-group also loads all cells that can influence its own cells during these steps, one
// per work-item, and keeps them in local memory from step to step. Neighbouring work-groups compute these cells too:
// this redundant work saves reading and writing global memory in every step.

// Number of additional columns and rows on each side of a work-group's own cells. In the first step, populations from
// farther out are read directly from the grid.
#define EDGE ((int)STEPS - 1)
#define OWN_COLUMNS ((int)WIDTH - 2 * EDGE)
#define OWN_ROWS ((int)HEIGHT - 2 * EDGE)

// Returns the coordinate `x`, wrapped around into the range from 0 to n - 1.
INLINED uint wrapped(int x, uint n)
{
    const int rest = x % (int)n;
    return (uint)(rest < 0 ? rest + (int)n : rest);
}

INLINED void put_near(__local float *near, const Cell *c)
{
    near[0 * WORK_GROUP] = c->f0;
    near[1 * WORK_GROUP] = c->f1;
    near[2 * WORK_GROUP] = c->f2;
    near[3 * WORK_GROUP] = c->f3;
    near[4 * WORK_GROUP] = c->f4;
    near[5 * WORK_GROUP] = c->f5;
    near[6 * WORK_GROUP] = c->f6;
    near[7 * WORK_GROUP] = c->f7;
    near[8 * WORK_GROUP] = c->f8;
}

// Like `pull`, but reads the populations from the work-group's cells in local memory. `east` is the offset of the
// neighbour to the east: 1, or 0 at the last column of a grid with an inlet.
INLINED void pull_near(Cell *n, __local const float *near, int east)
{
    n->f0 = near[0 * WORK_GROUP];
    n->f1 = near[1 * WORK_GROUP - 1];
    n->f2 = near[2 * WORK_GROUP - WIDTH];
    n->f3 = near[3 * WORK_GROUP + east];
    n->f4 = near[4 * WORK_GROUP + WIDTH];
    n->f5 = near[5 * WORK_GROUP - WIDTH - 1];
    n->f6 = near[6 * WORK_GROUP - WIDTH + east];
    n->f7 = near[7 * WORK_GROUP + WIDTH + east];
    n->f8 = near[8 * WORK_GROUP + WIDTH - 1];
}

// Computes `steps` steps, at most STEPS, and applies the driving force to the rows `first`..`end` after each step.
// Writes to `sums` one sum of speeds per work-group for the first step, then the sums for the second step, and so on.
__kernel WHOLE_GROUPS void advance(GRID, const COEFFICIENTS c, const uint first, const uint end,
                                   __global const uchar *solid, __global const stored *f_in, __global stored *f_out,
                                   __global float *sums, const uint from, const uint steps)
{
    __local float near[9 * WORK_GROUP];
    const Grid g = THE_GRID;
    const uint lane = get_local_id(0), group = group_number();
    const uint across = (nx + OWN_COLUMNS - 1) / OWN_COLUMNS, down = (ny + OWN_ROWS - 1) / OWN_ROWS;
    const int column = (int)(lane % WIDTH) - EDGE, row = (int)(lane / WIDTH) - EDGE;
    const int x_ = (int)(group % across) * OWN_COLUMNS + column, y_ = (int)(group / across) * OWN_ROWS + row;
    const uint x = wrapped(x_, nx), y = wrapped(y_, ny);
    bool is_cell = row < OWN_ROWS + EDGE;
#ifdef INLET
    // A grid with an inlet has no cells beyond its left and right edges.
    is_cell = is_cell && x == x_;
    const int east = x + 1 < nx ? 1 : 0;
#else
    const int east = 1;
#endif
    const bool is_own = is_cell && column >= 0 && column < OWN_COLUMNS && row >= 0 && row < OWN_ROWS
        && x_ < (int)nx && y_ < (int)ny;
    // The outer cells lack populations from beyond the work-group; the error does not reach the group's own cells.
    const bool is_inside = is_cell && column > -EDGE && column < OWN_COLUMNS + EDGE - 1
        && row > -EDGE && row < OWN_ROWS + EDGE - 1;
    const bool is_driven = y >= first && y < end;

    which blocked = 1;
    Cell cell = { 0 };
    float speeds[STEPS];
    if (is_cell) {
        blocked = SOLID(solid + single(&g, x, y));
        pull(&cell, &g, f_in, x, y, c);
    }
    for (uint s = 0; s < steps; ++s) {
        if (s > 0) {
            put_near(near + lane, &cell);
            barrier(CLK_LOCAL_MEM_FENCE);
            if (is_inside) {
                pull_near(&cell, near + lane, east);
#ifdef INLET
                if (x == 0)
                    enter(&cell, c);
#endif
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        float speed;
        settle(&cell, blocked, c, &speed);
        speeds[s] = is_own ? speed : 0.0f;
        if (is_driven)
            push(&cell, blocked, c);
    }
    if (is_own)
        put(&g, f_out, x, y, &cell);

    for (uint s = 0; s < steps; ++s)
        near[s * WORK_GROUP + lane] = speeds[s];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = lane; k < steps * SHARES; k += WORK_GROUP) {
        // Each work-item reads and writes only its own share: every SHARES-th number of a step.
        __local float *share = near + k / SHARES * WORK_GROUP + k % SHARES;
        for (uint i = SHARES; i + k % SHARES < WORK_GROUP; i += SHARES)
            *share += share[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = lane; s < steps; s += WORK_GROUP) {
        float sum = 0.0f;
        for (uint k = 0; k < min(SHARES, WORK_GROUP); ++k)
            sum += near[s * WORK_GROUP + k];
        sums[from + s * across * down + group] = sum;
    }
}
