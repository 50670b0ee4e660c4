// The own body and its sum stay in registers; the others still come from global memory one by one.
__kernel WHOLE_GROUPS void advance(const uint n, const float eps2, const COEFFICIENTS c,
                                   __global const float4 *x_in, __global float4 *x_out, __global float4 *v,
                                   __global float4 *a)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const float4 own = x_in[i];
    float3 sum = (float3)(0.0f);
    for (uint j = 0; j < n; ++j)
        sum = attract(sum, own.xyz, x_in[j], eps2);
    sum = gravity(sum, c);
    a[i] = (float4)(sum, 0.0f);
    finish_step(sum, own, v[i], c, &x_out[i], &v[i]);
}
