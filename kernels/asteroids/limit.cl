// Measures the peak rate of the pair test of `vector`, which finds whether one of CHAINS bodies is near a column of
// other bodies. All operands are in registers. A test takes four multiply-adds and a minimum.

#define START(k)                                                                                                       \
    const float x##k = item_share() + k, y##k = seed - x##k, z##k = seed * k, w##k = 0.5f * x##k;                      \
    wide near##k = seed;
#define LOOK(k)                                                                                                        \
    {                                                                                                                  \
        const wide gap = fma(x##k, x, fma(y##k, y, fma(z##k, z, fma(w##k, w, h))));                                    \
        near##k = gap < near##k ? gap : near##k;                                                                       \
    }
#define ADD(k) sum += near##k;

__kernel void pairs(const uint rounds, const float seed, __global float *out)
{
    EACH(START)
    wide x = seed - RAMP, y = 0.5f * RAMP, z = -seed, w = RAMP + seed, h = 0.25f * RAMP;
    for (uint r = 0; r < rounds; ++r) {
#pragma unroll
        for (uint turn = 0; turn < TURNS; ++turn) {
            EACH(LOOK)
            // Changes the operands of the next iteration with one addition.
            const wide moved = x - 0.0009765625f;
            x = y;
            y = z;
            z = w;
            w = h;
            h = moved;
        }
    }
    wide sum = 0.0f;
    EACH(ADD)
    out[get_global_id(0)] = total(sum);
}
