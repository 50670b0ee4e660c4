// LANES numbers side by side, and 1/√x of them. LANES of 1 is a plain float.
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

// ROOT 1 is the machine's own instruction, written out where the compiler does not find it: on CPUs good to 12 bits or more,
// and by the compiler's name, since PoCL 5 aborts where it is to make vectors of work-items around inline assembly. NVIDIA's compiler guards its own root against denormals with three more instructions. A compiler that knows the macros
// but not the instruction is given PORTABLE_ROOT (Program::build_with_root).
#if ROOT && !defined(PORTABLE_ROOT)
#if LANES == 16 && defined(__AVX512F__)
#define ROOT_INSTRUCTION(x) __builtin_ia32_rsqrt14ps512_mask(x, x, (ushort)-1)
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
