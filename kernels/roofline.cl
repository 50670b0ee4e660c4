// What a device can do at most: kernels that do one thing only. An item has CHAINS columns of LANES numbers, which stay in
// registers and do not wait for each other, and in each of `rounds` rounds does one operation to every number. What comes
// in is not known before it runs, and all of it goes into `out`, so that no compiler can leave work out.
//
// A mode's own operation, the pair, stands in kernels/MODE/limit.cl and is built behind this file.

// A compiler for CPUs that does not turn work-items into vectors is given them ready-made.
#if LANES == 16
typedef float16 REAL;
typedef float16 FETCH; // the widest that is fetched at once
#define FETCH_TOTAL(all) total(all)
#define RAMP (float16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#else
typedef float REAL;
typedef float4 FETCH;
#define FETCH_TOTAL(all) (all.x + all.y + all.z + all.w)
#define RAMP 0.0f
#endif

// Written out for each column: arrays of vectors would live in memory.
#define EACH_3(DO) DO(0) DO(1) DO(2)
#define EACH_4(DO) EACH_3(DO) DO(3)
#define EACH_12(DO) EACH_4(DO) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define EACH PASTE(EACH_, CHAINS)

// Differs between items, so that none does the work of all.
float item_share(void)
{
    return (float)(get_global_id(0) & 15) * 0.0625f;
}

float total(REAL x)
{
#if LANES == 16
    const float8 a = x.lo + x.hi;
    const float4 b = a.lo + a.hi;
    const float2 c = b.lo + b.hi;
    return c.x + c.y;
#else
    return x;
#endif
}

// 1/√x. With ROOT 1 as the machine's own instruction has it, good to 2^-14 or better: NVIDIA's native_rsqrt() takes care
// of denormals with three instructions more, and PoCL divides by a root. A compiler may know the macro and refuse the
// instruction, so the host tries with ROOT 1 first.
#if ROOT && LANES == 1 && defined(__NV_CL_C_VERSION)
#define ROOT_INSTRUCTION(x, y) asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x))
#elif ROOT && LANES == 16 && defined(__AVX512F__)
#define ROOT_INSTRUCTION(x, y) __asm__("vrsqrt14ps %1, %0" : "=v"(y) : "v"(x))
#endif

REAL root(REAL x)
{
#ifdef ROOT_INSTRUCTION
    REAL y;
    ROOT_INSTRUCTION(x, y);
    return y;
#else
    return reciprocal_root(x);
#endif
}

#if CHAINS == 12
#define START(k) REAL a##k = seed * (1.0f + k) + item_share() + RAMP;
#define MULTIPLY_ADD(k) a##k = fma(a##k, m, c);
#define ROOT(k) a##k = root(a##k);
#define ADD(k) sum += a##k;

__kernel void multiply_adds(const uint rounds, const float seed, __global float *out)
{
    const REAL m = seed, c = 1.0f - seed;
    EACH(START)
    for (uint r = 0; r < rounds; ++r) {
        EACH(MULTIPLY_ADD)
    }
    REAL sum = 0.0f;
    EACH(ADD)
    out[get_global_id(0)] = total(sum);
}

__kernel void roots(const uint rounds, const float seed, __global float *out)
{
    EACH(START)
    for (uint r = 0; r < rounds; ++r) {
        EACH(ROOT)
    }
    REAL sum = 0.0f;
    EACH(ADD)
    out[get_global_id(0)] = total(sum);
}

// A fetch a column of what all items want at the same time and caches hold, as kernels of all pairs do.
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

// One pass, whatever `rounds` says: the host queues it so often.
__kernel void copies(const uint rounds, const float seed, __global REAL *out, __global const REAL *from)
{
    out[get_global_id(0)] = from[get_global_id(0)];
}
#endif
