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

// ROOT 1 is the machine's own instruction, written out where the compiler does not find it: on CPUs good to 12 bits or more.
// NVIDIA's compiler guards its own root against denormals with three more instructions. A compiler that knows the macros
// but not the instruction is given PORTABLE_ROOT (Program::build_with_root).
#if ROOT && !defined(PORTABLE_ROOT)
#if LANES == 16 && defined(__AVX512F__) || LANES == 8 && defined(__AVX512VL__)
#define ROOT_INSTRUCTION "vrsqrt14ps %1, %0"
#define ROOT_REGISTER "v"
#elif LANES == 8 && defined(__AVX__)
#define ROOT_INSTRUCTION "vrsqrtps %1, %0"
#define ROOT_REGISTER "x"
#elif LANES == 1 && defined(__NV_CL_C_VERSION)
#define ROOT_INSTRUCTION "rsqrt.approx.ftz.f32 %0, %1;"
#define ROOT_REGISTER "f"
#endif
#endif

wide root(wide x)
{
#ifdef ROOT_INSTRUCTION
    wide y;
    __asm__(ROOT_INSTRUCTION : "=" ROOT_REGISTER(y) : ROOT_REGISTER(x));
    return y;
#else
    return reciprocal_root(x);
#endif
}
