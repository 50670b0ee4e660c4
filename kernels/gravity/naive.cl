// Every operand is read from global memory at every use, and the running sum is kept there too.
__kernel WHOLE_GROUPS void advance(const uint n, const float eps2, const COEFFICIENTS c,
                                   __global const float4 *x_in, __global float4 *x_out, __global float4 *v,
                                   __global float4 *a)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const float4 before = a[i];
    a[i] = (float4)(0.0f);
    for (uint j = 0; j < n; ++j)
        a[i].xyz = attract(a[i].xyz, x_in[i].xyz, x_in[j], eps2);
    end_pass(gravity(a[i].xyz, c), before, i, n, c, x_in, x_out, v, a);
}
