// Functions on vectors of 16 lanes, for the kernels of the tree on CPUs. Each work-item is a task whose loops run over
// such vectors.

#define TASK __kernel __attribute__((reqd_work_group_size(1, 1, 1)))
#define LANE ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

float largest_of(float16 v)
{
    const float8 a = fmax(v.lo, v.hi);
    const float4 b = fmax(a.lo, a.hi);
    return fmax(fmax(b.x, b.z), fmax(b.y, b.w));
}

float smallest_of(float16 v)
{
    return -largest_of(-v);
}

#if defined(__AVX512F__) && defined(__AVX512DQ__) && !defined(PORTABLE_ROOT)
// Returns one bit per lane: 1 where the condition holds.
uint bits_of(int16 condition)
{
    return (ushort)__builtin_ia32_cvtd2mask512(condition);
}

// Writes the lanes of `v` whose bits are set to `list`, one after another. May overwrite up to 16 elements of the list.
void append(float16 v, uint bits, float *list)
{
    vstore16(__builtin_ia32_compresssf512_mask(v, (float16)(0.0f), (ushort)bits), 0, list);
}
#elif defined(__AVX2__) && defined(__BMI2__) && defined(__x86_64__) && !defined(PORTABLE_ROOT)
uint bits_of(int16 condition)
{
    const float8 low = as_float8(condition.lo), high = as_float8(condition.hi);
    return __builtin_ia32_movmskps256(low) | __builtin_ia32_movmskps256(high) << 8;
}

// Returns the numbers of the bits that are set in a byte, one after another. The remaining lanes are 0.
int8 numbers_of(uint byte)
{
    const ulong chosen = 255 * __builtin_ia32_pdep_di(byte, 0x0101010101010101UL);
    return convert_int8(as_uchar8(__builtin_ia32_pext_di(0x0706050403020100UL, chosen)));
}

void append(float16 v, uint bits, float *list)
{
    const uint low = bits & 255, high = bits >> 8;
    vstore8(__builtin_ia32_permvarsf256(v.lo, numbers_of(low)), 0, list);
    vstore8(__builtin_ia32_permvarsf256(v.hi, numbers_of(high)), 0, list + popcount(low));
}
#else
uint bits_of(int16 condition)
{
    const int16 bits = condition & (int16)(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768);
    const int8 a = bits.lo | bits.hi;
    const int4 b = a.lo | a.hi;
    return (b.x | b.z) | (b.y | b.w);
}

void append(float16 v, uint bits, float *list)
{
    float one[16];
    vstore16(v, 0, one);
    for (; bits != 0; bits &= bits - 1)
        *list++ = one[31 - clz(bits & -bits)];
}
#endif

void append_ids(uint16 ids, uint bits, uint *list)
{
    append(as_float16(ids), bits, (float *)list);
}

// Returns 1/√x, accurate to a few units of the last place. x = 0 gives infinity or NaN.
float16 inverse_root(float16 x)
{
    const float16 y = root(x);
    return y * (1.5f - 0.5f * x * y * y);
}

// Returns the first of the n bodies that task t of `tasks` takes: a multiple of 16, or n.
uint part(uint n, uint t, uint tasks)
{
    return t == tasks ? n : (uint)((ulong)n * t / tasks) & ~15u;
}
