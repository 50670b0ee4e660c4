// A step in one kernel: reads the populations from the neighbours, reflects or relaxes them, and applies the driving
// force of the next step, so that every number is read once and written once. The variants `fused`, `soa`, `half` and
// `vector` are this kernel with different memory layouts (grid.cl).

// Computes a step. The driving force acts on the rows from `first` to before `end`. In the last step of a burst, it
// acts on no row, because the result of that step is displayed.
__kernel WHOLE_GROUPS void advance(GRID, const COEFFICIENTS c, const uint first, const uint end,
                                   __global const uchar *solid, __global const stored *f_in, __global stored *f_out,
                                   __global float *sums, const uint from)
{
    __local float scratch[WORK_GROUP];
    const Grid g = THE_GRID;
    const uint2 p = place_of_item(&g);
    float speed = 0.0f;
    if (p.x < nx && p.y < ny) {
        const which blocked = SOLID(solid + single(&g, p.x, p.y));
        wide each;
        Cell cell;
        pull(&cell, &g, f_in, p.x, p.y, c);
        settle(&cell, blocked, c, &each);
        if (p.y >= first && p.y < end)
            push(&cell, blocked, c);
        put(&g, f_out, p.x, p.y, &cell);
        speed = total(each);
    }
    store_group_sum(speed, scratch, &sums[from + group_number()]);
}
