// Measures the speeds that decide the number of substeps of a step.

// Computes the maximum of (|v| + |a|·ahead)/r over all bodies with finite values, as the bits of a float, and whether a
// body touches the planet or may touch it within the time `ahead`. The host sets both results to 0 first. The bits of
// non-negative floats have the same order as the floats, so an atomic maximum of integers suffices. A radius r below
// `least` is replaced by `least`, because bodies without mass have the radius 0.
__kernel void motion(const uint n, const COEFFICIENTS c, const float ahead, const float least,
                     __global const float4 *x, __global const float4 *v, __global uint *seen)
{
    float most = 0.0f;
    bool lands = false;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        const float4 a = x[i];
        const float3 u = v[i].xyz;
        if (!all_finite(u))
            continue;
        const float speed = fma(sqrt(square(pull(a.xyz, c))), ahead, sqrt(square(u)));
        const float radius = fmax(a.w * c.s5, least);
        most = fmax(most, speed / radius);
        lands = lands || (c.s7 > 0.0f && sqrt(square(a.xyz)) < fma(speed, ahead, c.s7 + radius));
    }
    atomic_max(&seen[0], as_uint(most));
    if (lands)
        atomic_or(&seen[1], 1u);
}
