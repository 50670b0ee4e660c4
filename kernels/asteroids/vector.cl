// For CPUs: tests BODIES bodies against 16 others at once, and single pairs only in blocks of 64 that contain a near
// body. Contact is symmetric: the kernel `find` tests each pair once and lists the contact for both bodies. The kernel
// `advance` needs no lists; devices that advance only some of the bodies use it.
//
// The test computes |x_i - x_j|² - (r_i + r_j)² as h_i + h_j - 2·(x_i·x_j + r_i·r_j) with h = |x|² - r², which takes
// four multiply-adds. Its rounding errors are a few parts in 10⁷ of the squares; h is lowered by the share MARGIN of
// the squares, so that no contact is missed.
#define BODIES 4
#define MARGIN 2e-6f

float threshold(float4 x)
{
    return (1.0f - MARGIN) * square(x.xyz) - (1.0f + MARGIN) * x.w * x.w;
}

// Writes (x, y, z, radius, h) of the bodies as five columns of `rows` numbers and empties the lists of partners. Rows
// without a body hold NaN, so that no body is near them.
__kernel void columns(const uint n, const uint rows, const float radius, __global const float4 *x_in,
                      __global float *column, __global uint *met)
{
    const uint i = get_global_id(0);
    if (i >= rows)
        return;
    met[i] = 0;
    float4 x = i < n ? x_in[i] : (float4)(NAN);
    x.w *= radius;
    column[i] = x.x;
    column[rows + i] = x.y;
    column[2 * rows + i] = x.z;
    column[3 * rows + i] = x.w;
    column[4 * rows + i] = threshold(x);
}

// Returns the smaller of a and b, or b if a is NaN. Takes one instruction; fmin() takes three to handle NaN in b.
float16 lesser(float16 a, float16 b)
{
    return a < b ? a : b;
}

// Returns h_j - 2·(x_i·x_j + r_i·r_j) for 16 bodies j; `twice` is -2·(x_i, r_i).
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

// BODIES consecutive bodies, with the coefficients of their distance test.
typedef struct {
    float4 own[BODIES], twice[BODIES];
    float h[BODIES];
} Few;

void take(Few *few, uint first, uint n, __global const float4 *x_in, COEFFICIENTS c)
{
    for (uint b = 0; b < BODIES; ++b) {
        // Loads copies of the last body beyond the end; the results of the copies are not used.
        const float4 x = x_in[min(first + b, n - 1)];
        const float4 scaled = (float4)(x.xyz, x.w * c.s5);
        few->own[b] = x;
        few->twice[b] = -2.0f * scaled;
        // An excluded body (ρ is NaN) is near no body. A threshold of NaN instead of infinity would hide other bodies.
        few->h[b] = isnan(x.w) ? INFINITY : threshold(scaled);
    }
}

// Computes the smallest |x_i - x_j|² - (r_i + r_j)² over the 64 bodies from j on, for each body i of `few`, and writes
// it to `near`. Returns false, without writing, if no pair is near.
bool look(const Few *few, uint j, uint rows, __global const float *column, float *near)
{
    // Four variables instead of an array: compilers keep an array of vectors in memory.
    float16 near0 = (float16)(INFINITY), near1 = near0, near2 = near0, near3 = near0;
    for (uint k = j; k < j + 64; k += 16) {
        const float16 x = vload16(0, column + k);
        const float16 y = vload16(0, column + rows + k);
        const float16 z = vload16(0, column + 2 * rows + k);
        const float16 r = vload16(0, column + 3 * rows + k);
        const float16 h = vload16(0, column + 4 * rows + k);
        near0 = lesser(nearness(few->twice[0], x, y, z, r, h), near0);
        near1 = lesser(nearness(few->twice[1], x, y, z, r, h), near1);
        near2 = lesser(nearness(few->twice[2], x, y, z, r, h), near2);
        near3 = lesser(nearness(few->twice[3], x, y, z, r, h), near3);
    }
    near0 += few->h[0];
    near1 += few->h[1];
    near2 += few->h[2];
    near3 += few->h[3];
    if (least(lesser(lesser(near0, near1), lesser(near2, near3))) >= 0.0f)
        return false;
    near[0] = least(near0);
    near[1] = least(near1);
    near[2] = least(near2);
    near[3] = least(near3);
    return true;
}

// Capacity of a body's list of partners. A body with more partners tests all bodies again.
#define LISTED 32

void note(__global uint *met, __global uint *others, uint i, uint k)
{
    const uint at = atomic_inc(&met[i]);
    if (at < LISTED)
        others[(size_t)i * LISTED + at] = k;
}

// Lists the contacts of BODIES bodies from the front and of as many from the back of the array. So all work-items have
// about the same work.
__kernel WHOLE_GROUPS void find(const uint n, const COEFFICIENTS c, __global const float4 *x_in, const uint rows,
                                __global const float *column, __global uint *met, __global uint *others)
{
    const uint all = (n + BODIES - 1) / BODIES, front = get_global_id(0), back = all - 1 - front;
    if (front >= (all + 1) / 2)
        return;
    for (uint side = 0; side < (front == back ? 1 : 2); ++side) {
        const uint first = BODIES * (side == 0 ? front : back);
        Few few;
        take(&few, first, n, x_in, c);
        for (uint j = first / 64 * 64; j < rows; j += 64) {
            float near[BODIES];
            if (!look(&few, j, rows, column, near))
                continue;
            for (uint b = 0; b < BODIES; ++b) {
                const uint i = first + b;
                if (i >= n || near[b] >= 0.0f)
                    continue;
                for (uint k = max(j, i + 1); k < min(j + 64, n); ++k) {
                    if (touches(few.own[b], x_in[k], c)) {
                        note(met, others, i, k);
                        note(met, others, k, i);
                    }
                }
            }
        }
    }
}

// Processes the contacts of each body from its list of partners. The list is in no fixed order; partners are visited by
// increasing index, so that sums are the same in every run.
__kernel void collide_listed(const uint n, const COEFFICIENTS c, __global const float4 *x_in,
                             __global const float4 *v_in, OUTPUT, __global const uint *met,
                             __global const uint *others)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const float4 own = x_in[i], own_v = v_in[i];
    Contacts s = no_contacts();
    const uint count = met[i];
    uint next = 0;
    for (uint nth = 0; nth < (count > LISTED ? n : count); ++nth) {
        uint k = nth;
        if (count <= LISTED) {
            k = n;
            for (uint at = 0; at < count; ++at) {
                const uint other = others[(size_t)i * LISTED + at];
                k = other >= next ? min(k, other) : k;
            }
            next = k + 1;
        } else if (k == i || !touches(own, x_in[k], c)) {
            continue;
        }
        meet(&s, n, i, k, i, k, own, own_v, x_in[k], v_in[k], c, OUT);
    }
    finish(s, i, i, own, own_v, c, OUT);
}

__kernel WHOLE_GROUPS void advance(const uint n, const COEFFICIENTS c, __global const float4 *x_in,
                                   __global const float4 *v_in, OUTPUT, const uint rows,
                                   __global const float *column)
{
    const uint first = BODIES * get_global_id(0);
    if (first >= n)
        return;
    Few few;
    take(&few, first, n, x_in, c);
    Contacts s[BODIES];
    for (uint b = 0; b < BODIES; ++b)
        s[b] = no_contacts();
    for (uint j = 0; j < rows; j += 64) {
        float near[BODIES];
        if (!look(&few, j, rows, column, near))
            continue;
        for (uint b = 0; b < BODIES; ++b) {
            const uint i = first + b;
            if (i >= n || near[b] >= 0.0f)
                continue;
            for (uint k = j; k < min(j + 64, n); ++k) {
                if (touches(few.own[b], x_in[k], c) && k != i)
                    meet(&s[b], n, i, k, i, k, few.own[b], v_in[i], x_in[k], v_in[k], c, OUT);
            }
        }
    }
    for (uint b = 0; b < BODIES && first + b < n; ++b)
        finish(s[b], first + b, first + b, few.own[b], v_in[first + b], c, OUT);
}
