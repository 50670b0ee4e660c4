// Vectors of LANES numbers, and the function root(x) = 1/√x for them. If LANES is 1, a vector is a plain float.
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

// If ROOT is 1, uses the machine's own instruction, written as inline assembly or, on CPUs, as a compiler built-in,
// because PoCL 5 aborts when it vectorises inline assembly. On CPUs the result has at least 11 correct bits. NVIDIA's
// compiler adds three instructions to its own root function, to handle denormals. For a compiler that knows the macros
// below but not the instruction, the host defines PORTABLE_ROOT (Program::build_with_root).
#if ROOT && !defined(PORTABLE_ROOT)
#if LANES == 16 && defined(__AVX512F__)
#define ROOT_INSTRUCTION(x) __builtin_ia32_rsqrt14ps512_mask(x, x, (ushort)-1)
#elif LANES == 16 && defined(__AVX__)
#define ROOT_INSTRUCTION(x) (float16)(__builtin_ia32_rsqrtps256((x).lo), __builtin_ia32_rsqrtps256((x).hi))
#elif LANES == 8 && defined(__AVX512VL__)
#define ROOT_INSTRUCTION(x) __builtin_ia32_rsqrt14ps256_mask(x, x, (uchar)-1)
#elif LANES == 8 && defined(__AVX__)
#define ROOT_INSTRUCTION(x) __builtin_ia32_rsqrtps256(x)
#elif LANES == 1 && defined(__NV_CL_C_VERSION)
float ptx_root(float x)
{
    float y;
    __asm__("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#define ROOT_INSTRUCTION(x) ptx_root(x)
#endif
#endif

wide root(wide x)
{
#ifdef ROOT_INSTRUCTION
    return ROOT_INSTRUCTION(x);
#else
    return reciprocal_root(x);
#endif
}
