// For CPUs: the distance to 16 others at once, and a look at single ones only where one of 64 is near. Places stand in
// columns for that, filled up with NaN, which is near to nobody.

__kernel void columns(const uint n, const uint rows, __global const float4 *x_in, __global float *column)
{
    const uint i = get_global_id(0);
    if (i >= rows)
        return;
    const float4 x = i < n ? x_in[i] : (float4)(NAN);
    column[i] = x.x;
    column[rows + i] = x.y;
    column[2 * rows + i] = x.z;
    column[3 * rows + i] = x.w;
}

// The squared distance less the square of the reach, a little enlarged: nobody who touches is overlooked, whatever
// the rounding.
float16 gap(uint k, uint rows, float4 own, float radius, __global const float *column)
{
    float16 dx = vload16(k, column) - own.x;
    float16 dy = vload16(k, column + rows) - own.y;
    float16 dz = vload16(k, column + 2 * rows) - own.z;
    float16 reach = (vload16(k, column + 3 * rows) + own.w) * radius;
    return dx * dx + dy * dy + dz * dz - reach * reach * 1.00001f;
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
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const float4 own = x_in[i];
    const float4 own_v = v_in[i];
    Contacts s = no_contacts();
    for (uint k = 0; k < rows / 16; k += 4) {
        float16 near = fmin(fmin(gap(k, rows, own, c.s5, column), gap(k + 1, rows, own, c.s5, column)),
                            fmin(gap(k + 2, rows, own, c.s5, column), gap(k + 3, rows, own, c.s5, column)));
        if (least(near) < 0.0f) {
            for (uint j = 16 * k; j < min(16 * k + 64, n); ++j) {
                if (j != i && touches(own, x_in[j], c))
                    collide(&s, i, j, own, own_v, x_in[j], v_in[j], c);
            }
        }
    }
    finish_step(s, own, own_v, c, &x_out[i], &v_out[i], &contact[i]);
}
