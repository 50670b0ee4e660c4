// Measures the peak rate of the pair arithmetic of columns.cl. CHAINS columns of bodies interact with one other body at
// a time, all in registers, and the forces on both bodies of each pair are summed. All masses are equal, which is the
// fastest case.

#define START(k)                                                                                                       \
    const wide x##k = 0.25f * RAMP + item_share() + k, y##k = 0.5f * x##k + 1.0f, z##k = seed - x##k;                  \
    wide ax##k = 0.0f, ay##k = 0.0f, az##k = 0.0f;
#define PULL(k)                                                                                                        \
    {                                                                                                                  \
        const wide dx = x - x##k, dy = y - y##k, dz = z - z##k;                                                        \
        const wide f = pull(1.0f, fma(dx, dx, fma(dy, dy, fma(dz, dz, eps2))));                                        \
        ax##k = fma(dx, f, ax##k);                                                                                     \
        ay##k = fma(dy, f, ay##k);                                                                                     \
        az##k = fma(dz, f, az##k);                                                                                     \
        bx = fma(dx, f, bx);                                                                                           \
        by = fma(dy, f, by);                                                                                           \
        bz = fma(dz, f, bz);                                                                                           \
    }
#define ADD(k) sum += ax##k + ay##k + az##k;

__kernel void pairs(const uint rounds, const float seed, __global float *out)
{
    const float eps2 = 1.0f - seed;
    EACH(START)
    wide x = 0.0f, y = seed, z = -seed;
    wide bx = 0.0f, by = 0.0f, bz = 0.0f;
    for (uint r = 0; r < rounds; ++r) {
#pragma unroll
        for (uint turn = 0; turn < TURNS; ++turn) {
            EACH(PULL)
            // Changes the other body with one addition, which costs as much as fetching a new body.
            const wide moved = x + 0.0009765625f;
            x = y;
            y = z;
            z = moved;
        }
    }
    wide sum = bx + by + bz;
    EACH(ADD)
    out[get_global_id(0)] = total(sum);
}
