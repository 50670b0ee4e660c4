// The force for LANES bodies at once, one to a lane, in columns: what `vector` and `blocked` sum over. LANES of 1
// is a plain float.
#ifndef LANES
#define LANES 1
#endif
#if LANES == 16
#define wide float16
#elif LANES == 8
#define wide float8
#else
#define wide float
#endif

// How the reciprocal root is taken. ROOT 1 is the machine's own instruction, written out where the compiler does
// not find it; a compiler that knows the macros but not the instruction is given ROOT 0 instead.
#if ROOT && LANES == 16 && defined(__AVX512F__)
#define ESTIMATE "vrsqrt14ps %1, %0"
#define ESTIMATE_REGISTER "v"
#elif ROOT && LANES == 8 && defined(__AVX512VL__)
#define ESTIMATE "vrsqrt14ps %1, %0"
#define ESTIMATE_REGISTER "v"
#elif ROOT && LANES == 8 && defined(__AVX__)
#define ESTIMATE "vrsqrtps %1, %0"
#define ESTIMATE_REGISTER "x"
#endif

// m·s(r) from the squared softened distance.
wide pull(float m, wide r2)
{
#if defined(ESTIMATE)
    // y ≈ r⁻¹ to 12 bits or more, off by a factor 1 + e; one step of Newton's method, folded into the third power:
    // m·y³·(5/2 − 3/2·r²·y²) is off by 7.5 e².
    wide y;
    __asm__(ESTIMATE : "=" ESTIMATE_REGISTER(y) : ESTIMATE_REGISTER(r2));
    const wide y2 = y * y;
    return (1.5f * m * y) * (y2 * (5.0f / 3.0f - r2 * y2));
#elif LANES > 1
    // CPUs have a vector root and division.
    return m / (r2 * native_sqrt(r2));
#else
#if ROOT && defined(__NV_CL_C_VERSION)
    // NVIDIA's compiler guards its own root against denormals with three more instructions; eps² is none.
    float y;
    __asm__("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(r2));
#else
    const float y = reciprocal_root(r2);
#endif
#ifdef EQUAL_MASS
    return y * y * y;
#else
    return (m * y) * (y * y);
#endif
#endif
}

typedef struct {
    wide x, y, z;    // places
    wide ax, ay, az; // sums of the pull
} Columns;

void attract_columns(Columns *c, float4 other, float eps2)
{
    const wide dx = other.x - c->x;
    const wide dy = other.y - c->y;
    const wide dz = other.z - c->z;
#ifdef SOFTENING_CLAMP
    const wide gap2 = dx * dx + (dy * dy + dz * dz);
    const wide r2 = gap2 > eps2 ? gap2 : (wide)(eps2);
#else
    const wide r2 = dx * dx + (dy * dy + (dz * dz + eps2));
#endif
    const wide f = pull(other.w, r2);
    c->ax += dx * f;
    c->ay += dy * f;
    c->az += dz * f;
}
