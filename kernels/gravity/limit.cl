// What the arithmetic of a pair allows: CHAINS columns of bodies against one other at a time, all of them in registers.

// m / r³ from r².
REAL pull(REAL m, REAL r2)
{
#if LANES == 16 && defined(FAST_ROOT)
    // One Newton step for the root, folded into the product: 1/r = y·(3 - r²y²)/2, whose cube is y³·(5 - 3r²y²)/2 up to
    // second order.
    const REAL y = root(r2);
    const REAL y2 = y * y;
    return (1.5f * m * y) * y2 * (5.0f / 3.0f - r2 * y2);
#elif LANES == 16
    return m / (r2 * native_sqrt(r2));
#else
    const REAL y = root(r2);
    return m * y * (y * y);
#endif
}

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
    const REAL m = seed, eps2 = 1.0f - seed;
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
