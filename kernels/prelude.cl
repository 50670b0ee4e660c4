// What every kernel may use. Built in front of each of them, together with the defines of its variant.

// Stands before a kernel that is built for one work-group size. Without it NVIDIA's compiler takes 256 for the
// largest that may come.
#ifdef WORK_GROUP
#define WHOLE_GROUPS __attribute__((reqd_work_group_size(WORK_GROUP, 1, 1)))
#endif

// A number counts as finite up to this limit, so that squared distances do not overflow. Compared by bits:
// the compiler may not reason NaN away.
#define FINITE_LIMIT 1e18f

bool is_finite(float x)
{
    return (as_uint(x) & 0x7fffffffu) <= as_uint(FINITE_LIMIT);
}

// What a colour shows, as the options of the parameter `colour` are counted; and what stands for it of a body held out.
#define COLOUR_MASS 1
#define COLOUR_ACCELERATION 2
#define COLOUR_ORIGIN 3
#define COLOUR_HEIGHT 4
#define COLOUR_HIT 5
#define HELD_OUT (-FLT_MAX)

// a·b, rounded on its own. With -cl-mad-enable a compiler may fuse a product with the sum that uses it, which breaks sums whose
// rounding errors count, and differences that must be the same from both sides. The volatile variable prevents the fusion.
float product(float a, float b)
{
    volatile float p = a * b;
    return p;
}

bool all_finite(float3 v)
{
    return is_finite(v.x) && is_finite(v.y) && is_finite(v.z);
}

// A quantity that spans decades, as its logarithm.
float decades(float value)
{
    return log10(clamp(value, 1e-30f, 1e30f));
}
