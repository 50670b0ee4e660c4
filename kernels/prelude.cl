// Definitions for every kernel. The host puts the macros of the variant and this file in front of each kernel file.

// Attribute of kernels that are built for a fixed work-group size. Without it NVIDIA's compiler assumes a size of up
// to 256.
#ifdef WORK_GROUP
#define WHOLE_GROUPS __attribute__((reqd_work_group_size(WORK_GROUP, 1, 1)))
#endif

// Numbers count as finite up to this limit, so that squared distances do not overflow. The comparison uses bits,
// because the compiler may assume that there is no NaN.
#define FINITE_LIMIT 1e18f

bool is_finite(float x)
{
    return (as_uint(x) & 0x7fffffffu) <= as_uint(FINITE_LIMIT);
}

// Indices of the options of the parameter `colour`, and the value that marks a body excluded as not finite.
#define COLOUR_MASS 1
#define COLOUR_ACCELERATION 2
#define COLOUR_ORIGIN 3
#define COLOUR_HEIGHT 4
#define COLOUR_HIT 5 // asteroids
#define COLOUR_COST 5 // gravity
#define COLOUR_NONE 6 // gravity: one value for all bodies; the host replaces it if the colour is `error`
#define COLOUR_STARS 8 // gravity
#define HELD_OUT (-FLT_MAX)
// Value that marks a body to be drawn grey and faint.
#define FAINT FLT_MAX

// Values of at least LOWEST_COLOUR encode colours: 2^103 · (2^23 + c/2), where c is the colour as the number 0xRRGGBB.
#define LOWEST_COLOUR 0x1p126f

// Returns a·b, rounded separately. With -cl-mad-enable a compiler may fuse a product with the sum that uses it. This
// breaks sums whose rounding errors count, and differences that must be equal from both sides. The volatile variable
// prevents the fusion.
float product(float a, float b)
{
    volatile float p = a * b;
    return p;
}

bool all_finite(float3 v)
{
    return is_finite(v.x) && is_finite(v.y) && is_finite(v.z);
}

// Returns the sum of the 16 numbers of a vector.
float sum_of(float16 v)
{
    const float8 a = v.lo + v.hi;
    const float4 b = a.lo + a.hi;
    return (b.x + b.z) + (b.y + b.w);
}

// Returns the decimal logarithm of a quantity, clamped to the range from 1e-30 to 1e30.
float decades(float value)
{
    return log10(clamp(value, 1e-30f, 1e30f));
}
