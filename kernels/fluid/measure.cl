// Writes sums over the cells of a flow, one row per work-group: the sums of `add_body`, with densities as masses; the
// number, mass and summed viscosity of the free cells; and the largest speed and viscosity.
__kernel void measure(const uint n, __global const float4 *field, __global real *rows, __global float2 *maxima)
{
    __local real scratch[REDUCE_GROUP];
    __local float2 scratch_max[REDUCE_GROUP];
    real s[SUMS];
    clear_sums(s);
    float2 most = (float2)(0.0f);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        const float4 u = field[i];
        if (u.w == 0.0f || !add_body(s, (float3)(0.0f), (float3)(u.xy, 0.0f), u.z))
            continue;
        s[EXTRA] = real_add(s[EXTRA], real_of(1.0f));
        s[EXTRA + 1] = real_add(s[EXTRA + 1], real_of(u.z));
        s[EXTRA + 2] = real_add(s[EXTRA + 2], real_of(u.w));
        most = fmax(most, (float2)(length(u.xy), u.w));
    }
    store_sums(s, rows, scratch);
    store_maxima(most, maxima, scratch_max);
}
