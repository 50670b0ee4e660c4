// For CPUs: each work-item advances VECTORS vectors of LANES bodies. It reads the other bodies one after another and
// broadcasts each to all lanes. The vectors are explicit because some compilers do not vectorise over work-items.
//
// Number of other bodies whose forces are summed before their sum is added to the total, so that small forces are not
// lost in a large sum.
#define CHUNK 1024

typedef union {
    wide all;
    float one[LANES];
} Lanes;

Columns gather(uint first, uint n, __global const float4 *x_in)
{
    Lanes x, y, z;
    for (uint k = 0; k < LANES; ++k) {
        // Lanes beyond the last body load a copy of it.
        const float4 body = x_in[min(first + k, n - 1)];
        x.one[k] = body.x;
        y.one[k] = body.y;
        z.one[k] = body.z;
    }
    const wide none = (wide)(0.0f);
    Columns c = { x.all, y.all, z.all, none, none, none };
    return c;
}

void finish(const Columns *columns, uint first, uint n, COEFFICIENTS c, __global const float4 *x_in,
            __global float4 *x_out, __global float4 *v, __global float4 *a)
{
    const Lanes ax = { columns->ax }, ay = { columns->ay }, az = { columns->az };
    for (uint k = 0; k < LANES && first + k < n; ++k) {
        const uint i = first + k;
        const float3 sum = gravity((float3)(ax.one[k], ay.one[k], az.one[k]), c);
        end_pass(sum, a[i], i, n, c, x_in, x_out, v, a);
    }
}

__kernel WHOLE_GROUPS void advance(const uint n, const float eps2, const COEFFICIENTS c,
                                   __global const float4 *x_in, __global float4 *x_out, __global float4 *v,
                                   __global float4 *a)
{
    const uint first = VECTORS * LANES * get_global_id(0);
    if (first >= n)
        return;
    Columns whole[VECTORS];
    for (uint k = 0; k < VECTORS; ++k)
        whole[k] = gather(first + k * LANES, n, x_in);
    for (uint start = 0; start < n; start += CHUNK) {
        Columns part[VECTORS];
#pragma unroll
        for (uint k = 0; k < VECTORS; ++k) {
            const wide none = (wide)(0.0f);
            const Columns from_here = { whole[k].x, whole[k].y, whole[k].z, none, none, none };
            part[k] = from_here;
        }
        const uint end = min(start + CHUNK, n);
        for (uint j = start; j < end; ++j) {
            const float4 other = x_in[j];
#pragma unroll
            for (uint k = 0; k < VECTORS; ++k)
                attract_columns(&part[k], other, eps2);
        }
        for (uint k = 0; k < VECTORS; ++k) {
            whole[k].ax += part[k].ax;
            whole[k].ay += part[k].ay;
            whole[k].az += part[k].az;
        }
    }
    for (uint k = 0; k < VECTORS; ++k)
        finish(&whole[k], first + k * LANES, n, c, x_in, x_out, v, a);
}
