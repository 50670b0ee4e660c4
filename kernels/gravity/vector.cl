// For CPUs: a work-item steps 32 bodies as two vectors of 16, one lane a body, and every other body is spread over the
// lanes in turn. A compiler that does not turn scalar work-items into vectors is given them ready-made.
#define LANES 16

// 16 bodies in columns.
typedef struct {
    float16 x, y, z;    // places
    float16 ax, ay, az; // sums of the pull
} Columns;

Columns gather(uint first, uint n, __global const float4 *x_in)
{
    float x[LANES], y[LANES], z[LANES];
    for (uint k = 0; k < LANES; ++k) {
        // The tail repeats the last body.
        const float4 body = x_in[min(first + k, n - 1)];
        x[k] = body.x;
        y[k] = body.y;
        z[k] = body.z;
    }
    const float16 none = (float16)(0.0f);
    Columns c = { vload16(0, x), vload16(0, y), vload16(0, z), none, none, none };
    return c;
}

// `attract`, for 16 bodies at once. CPUs have a vector root and division, but no precise reciprocal root.
void attract16(Columns *c, float4 other, float eps2)
{
    const float16 dx = other.x - c->x;
    const float16 dy = other.y - c->y;
    const float16 dz = other.z - c->z;
    float16 r2 = dx * dx + dy * dy + dz * dz;
#ifdef SOFTENING_CLAMP
    r2 = r2 > eps2 ? r2 : (float16)(eps2);
#else
    r2 += eps2;
#endif
    const float16 pull = other.w / (r2 * native_sqrt(r2));
    c->ax += dx * pull;
    c->ay += dy * pull;
    c->az += dz * pull;
}

void finish16(const Columns *columns, uint first, uint n, COEFFICIENTS c, __global const float4 *x_in,
              __global float4 *x_out, __global float4 *v, __global float4 *a)
{
    float ax[LANES], ay[LANES], az[LANES];
    vstore16(columns->ax, 0, ax);
    vstore16(columns->ay, 0, ay);
    vstore16(columns->az, 0, az);
    for (uint k = 0; k < LANES && first + k < n; ++k) {
        const uint i = first + k;
        const float3 sum = gravity((float3)(ax[k], ay[k], az[k]), c);
        a[i] = (float4)(sum, 0.0f);
        finish_step(sum, x_in[i], v[i], c, &x_out[i], &v[i]);
    }
}

__kernel WHOLE_GROUPS void advance(const uint n, const float eps2, const COEFFICIENTS c,
                                   __global const float4 *x_in, __global float4 *x_out, __global float4 *v,
                                   __global float4 *a)
{
    const uint first = 2 * LANES * get_global_id(0);
    if (first >= n)
        return;
    Columns low = gather(first, n, x_in);
    Columns high = gather(first + LANES, n, x_in);
    for (uint j = 0; j < n; ++j) {
        const float4 other = x_in[j];
        attract16(&low, other, eps2);
        attract16(&high, other, eps2);
    }
    finish16(&low, first, n, c, x_in, x_out, v, a);
    finish16(&high, first + LANES, n, c, x_in, x_out, v, a);
}
