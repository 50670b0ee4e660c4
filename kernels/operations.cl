// Kernels that measure the peak rates of a device.

#define START(k) wide a##k = seed * (1.0f + k) + item_share() + RAMP;
#define MULTIPLY_ADD(k) a##k = fma(a##k, m, c);
#define TAKE_ROOT(k) a##k = root(a##k);
#define ADD(k) sum += a##k;

__kernel void multiply_adds(const uint rounds, const float seed, __global float *out)
{
    const wide m = seed, c = 1.0f - seed;
    EACH(START)
    for (uint r = 0; r < rounds; ++r) {
#pragma unroll
        for (uint turn = 0; turn < TURNS; ++turn) {
            EACH(MULTIPLY_ADD)
        }
    }
    wide sum = 0.0f;
    EACH(ADD)
    out[get_global_id(0)] = total(sum);
}

__kernel void roots(const uint rounds, const float seed, __global float *out)
{
    EACH(START)
    for (uint r = 0; r < rounds; ++r) {
#pragma unroll
        for (uint turn = 0; turn < TURNS; ++turn) {
            EACH(TAKE_ROOT)
        }
    }
    wide sum = 0.0f;
    EACH(ADD)
    out[get_global_id(0)] = total(sum);
}

// Each column fetches an element that is in a cache and that all work-items read at the same time, as in kernels over
// all pairs of bodies.
#define FETCH_START(k) FETCH b##k = (FETCH)(seed);
#define FETCH_ADD(k) b##k += from[at + k];
#define FETCH_SUM(k) all += b##k;

__kernel void fetches(const uint rounds, const float seed, __global float *out, __global const FETCH *from)
{
    EACH(FETCH_START)
    for (uint r = 0; r < rounds; ++r) {
        const uint at = r % FETCHED * CHAINS;
        EACH(FETCH_ADD)
    }
    FETCH all = (FETCH)(0.0f);
    EACH(FETCH_SUM)
    out[get_global_id(0)] = FETCH_TOTAL(all);
}

// Copies each element once and ignores `rounds`: the host queues this kernel `rounds` times.
__kernel void copies(const uint rounds, const float seed, __global FETCH *out, __global const FETCH *from)
{
    out[get_global_id(0)] = from[get_global_id(0)];
}
