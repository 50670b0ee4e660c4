// Measures the peak rate of single operations. A work-item has CHAINS columns of LANES numbers, which stay in registers
// and do not depend on each other. In each of `rounds` rounds, it applies TURNS operations to every number. The input
// is unknown at compile time and all numbers contribute to `out`, so that no compiler can remove work.
//
// The operations are in operations.cl, and a mode's pair interaction is in MODE/limit.cl; both are appended to this
// file.

// Explicit vectors, for CPU compilers that do not vectorise over work-items.
#if LANES == 16
typedef float16 FETCH; // the widest vector that is fetched at once
#define FETCH_TOTAL(all) total(all)
#define RAMP (float16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#else
typedef float4 FETCH;
#define FETCH_TOTAL(all) (all.x + all.y + all.z + all.w)
#define RAMP 0.0f
#endif

// The code is repeated for each column, because arrays of vectors would be kept in memory.
#define EACH_3(DO) DO(0) DO(1) DO(2)
#define EACH_4(DO) EACH_3(DO) DO(3)
#define EACH_8(DO) EACH_4(DO) DO(4) DO(5) DO(6) DO(7)
#define EACH_12(DO) EACH_8(DO) DO(8) DO(9) DO(10) DO(11)
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define EACH PASTE(EACH_, CHAINS)

// Returns a number that differs between neighbouring work-items, so that they cannot share results.
float item_share(void)
{
    return (float)(get_global_id(0) & 15) * 0.0625f;
}

float total(wide x)
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
