// A step in separate kernels: one per stage, each over the whole grid. The kernel of the first stage, the driving
// force, is in flow.cl.

__kernel WHOLE_GROUPS void propagate(GRID, const COEFFICIENTS c, __global const stored *f, __global stored *arrived)
{
    const Grid g = THE_GRID;
    const uint2 p = place_of_item(&g);
    if (p.x < nx && p.y < ny) {
        Cell cell;
        pull(&cell, &g, f, p.x, p.y, c);
        put(&g, arrived, p.x, p.y, &cell);
    }
}

// Reflects the populations in solid cells.
__kernel WHOLE_GROUPS void rebound(GRID, const COEFFICIENTS c, __global const uchar *solid,
                                   __global const stored *arrived, __global stored *f)
{
    const Grid g = THE_GRID;
    const uint2 p = place_of_item(&g);
    if (p.x < nx && p.y < ny && solid[single(&g, p.x, p.y)]) {
        Cell cell;
        float speed;
        get(&cell, &g, arrived, p.x, p.y);
        settle(&cell, 1, c, &speed);
        put(&g, f, p.x, p.y, &cell);
    }
}

// Relaxes the populations in free cells.
__kernel WHOLE_GROUPS void relax(GRID, const COEFFICIENTS c, __global const uchar *solid,
                                 __global const stored *arrived, __global stored *f)
{
    const Grid g = THE_GRID;
    const uint2 p = place_of_item(&g);
    if (p.x < nx && p.y < ny && !solid[single(&g, p.x, p.y)]) {
        Cell cell;
        float speed;
        get(&cell, &g, arrived, p.x, p.y);
        settle(&cell, 0, c, &speed);
        put(&g, f, p.x, p.y, &cell);
    }
}

__kernel WHOLE_GROUPS void add_speeds(GRID, const COEFFICIENTS c, __global const uchar *solid, __global const stored *f,
                                      __global float *sums, const uint from)
{
    __local float scratch[WORK_GROUP];
    const Grid g = THE_GRID;
    const uint2 p = place_of_item(&g);
    float speed = 0.0f;
    if (p.x < nx && p.y < ny && !solid[single(&g, p.x, p.y)]) {
        Cell cell;
        get(&cell, &g, f, p.x, p.y);
        const float ux = momentum_x(&cell), uy = momentum_y(&cell);
        speed = sqrt(ux * ux + uy * uy) / (REST(c) + excess_of(&cell));
    }
    store_group_sum(speed, scratch, &sums[from + group_number()]);
}
