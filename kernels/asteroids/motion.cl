// What decides how many substeps a step is divided into.

// The largest of (|v| + |a|·ahead)/r over all bodies that are not held out, as the bits of a float, and whether a body
// touches the planet or can come to touch it within the time `ahead`. Both are 0 before. The bits of floats that are not
// negative are ordered as the floats are, so that the order of the bodies does not matter. A body's radius r counts as
// `least` at least: bodies without mass have none.
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
