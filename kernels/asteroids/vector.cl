// For CPUs: BODIES bodies a work-item against 16 others at once, and a look at single ones only where one of 64 is near.
//
// Who is near is asked of |x_i - x_j|² - (r_i + r_j)² = h_i + h_j - 2·(x_i·x_j + r_i·r_j) with h = |x|² - r², which takes
// four multiply-adds. Its rounding errors are a few parts in 10⁷ of the squares; h leaves out MARGIN of them, so that
// nobody who touches is overlooked.
#define BODIES 4
#define MARGIN 2e-6f

float threshold(float4 x)
{
    return (1.0f - MARGIN) * square(x.xyz) - (1.0f + MARGIN) * x.w * x.w;
}

// (x, y, z, radius) and h in columns of `rows`, filled up with NaN, which is near to nobody.
__kernel void columns(const uint n, const uint rows, const float radius, __global const float4 *x_in,
                      __global float *column)
{
    const uint i = get_global_id(0);
    if (i >= rows)
        return;
    float4 x = i < n ? x_in[i] : (float4)(NAN);
    x.w *= radius;
    column[i] = x.x;
    column[rows + i] = x.y;
    column[2 * rows + i] = x.z;
    column[3 * rows + i] = x.w;
    column[4 * rows + i] = threshold(x);
}

// The smaller, and b if a is NaN: one instruction, where fmin() takes three for the sake of NaN in b.
float16 lesser(float16 a, float16 b)
{
    return a < b ? a : b;
}

// h_j - 2·(x_i·x_j + r_i·r_j) for 16 others; `twice` is -2·(x_i, r_i).
float16 nearness(float4 twice, float16 x, float16 y, float16 z, float16 r, float16 h)
{
    return fma(twice.x, x, fma(twice.y, y, fma(twice.z, z, fma(twice.w, r, h))));
}

float least(float16 x)
{
    float8 a = fmin(x.lo, x.hi);
    float4 b = fmin(a.lo, a.hi);
    float2 c = fmin(b.lo, b.hi);
    return fmin(c.x, c.y);
}

__kernel WHOLE_GROUPS void advance(const uint n, const COEFFICIENTS c, __global const float4 *x_in,
                                   __global const float4 *v_in, __global float4 *x_out, __global float4 *v_out,
                                   __global float4 *contact, const uint rows, __global const float *column)
{
    const uint first = BODIES * get_global_id(0);
    if (first >= n)
        return;
    float4 own[BODIES], twice[BODIES];
    float h[BODIES];
    Contacts s[BODIES];
    for (uint b = 0; b < BODIES; ++b) {
        // The tail repeats its last body; it is finished once.
        own[b] = x_in[min(first + b, n - 1)];
        const float4 scaled = (float4)(own[b].xyz, own[b].w * c.s5);
        twice[b] = -2.0f * scaled;
        h[b] = threshold(scaled);
        s[b] = no_contacts();
    }
    for (uint j = 0; j < rows; j += 64) {
        // Written out: vectors in an array would live in memory.
        float16 near0 = (float16)(INFINITY), near1 = near0, near2 = near0, near3 = near0;
        for (uint k = j; k < j + 64; k += 16) {
            const float16 x = vload16(0, column + k);
            const float16 y = vload16(0, column + rows + k);
            const float16 z = vload16(0, column + 2 * rows + k);
            const float16 r = vload16(0, column + 3 * rows + k);
            const float16 hj = vload16(0, column + 4 * rows + k);
            near0 = lesser(nearness(twice[0], x, y, z, r, hj), near0);
            near1 = lesser(nearness(twice[1], x, y, z, r, hj), near1);
            near2 = lesser(nearness(twice[2], x, y, z, r, hj), near2);
            near3 = lesser(nearness(twice[3], x, y, z, r, hj), near3);
        }
        if (least(lesser(lesser(near0 + h[0], near1 + h[1]), lesser(near2 + h[2], near3 + h[3]))) >= 0.0f)
            continue;
        const float4 near = (float4)(least(near0), least(near1), least(near2), least(near3));
        for (uint b = 0; b < BODIES; ++b) {
            const uint i = first + b;
            if (i >= n || ((const float *)&near)[b] + h[b] >= 0.0f)
                continue;
            for (uint k = j; k < min(j + 64, n); ++k) {
                if (touches(own[b], x_in[k], c) && k != i)
                    collide(&s[b], i, k, own[b], v_in[i], x_in[k], v_in[k], c);
            }
        }
    }
    for (uint b = 0; b < BODIES && first + b < n; ++b)
        finish_step(s[b], own[b], v_in[first + b], c, &x_out[first + b], &v_out[first + b], &contact[first + b]);
}
