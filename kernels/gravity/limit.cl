// What the arithmetic of a pair (kernels/gravity/columns.cl) allows: CHAINS columns of bodies against one other at a time, all of them in registers.

#define START(k)                                                                                                       \
    const REAL x##k = 0.25f * RAMP + item_share() + k, y##k = 0.5f * x##k + 1.0f, z##k = seed - x##k;                  \
    REAL ax##k = 0.0f, ay##k = 0.0f, az##k = 0.0f;
#define PULL(k)                                                                                                        \
    {                                                                                                                  \
        const REAL dx = x - x##k, dy = y - y##k, dz = z - z##k;                                                        \
        const REAL f = pull(m, fma(dx, dx, fma(dy, dy, fma(dz, dz, eps2))));                                           \
        ax##k = fma(dx, f, ax##k);                                                                                     \
        ay##k = fma(dy, f, ay##k);                                                                                     \
        az##k = fma(dz, f, az##k);                                                                                     \
    }
#define ADD(k) sum += ax##k + ay##k + az##k;

__kernel void pairs(const uint rounds, const float seed, __global float *out)
{
    const float m = seed, eps2 = 1.0f - seed;
    EACH(START)
    REAL x = 0.0f, y = seed, z = -seed;
    for (uint r = 0; r < rounds; ++r) {
        EACH(PULL)
        // The other goes elsewhere for one addition: as much as to fetch it would take.
        const REAL moved = x + 0.0009765625f;
        x = y;
        y = z;
        z = moved;
    }
    REAL sum = 0.0f;
    EACH(ADD)
    out[get_global_id(0)] = total(sum);
}
