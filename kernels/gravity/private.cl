// The work-item's own body and its sum stay in registers; other bodies are still read from global memory one by one.
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
    end_pass(gravity(sum, c), a[i], i, n, c, x_in, x_out, v, a);
}
