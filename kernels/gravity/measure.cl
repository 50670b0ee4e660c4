// Conserved quantities of gravity.

// Returns the potential of a pair divided by -G m_i m_j, consistent with `fade`: its derivative is r·s(r).
float potential_of(float r2, float eps2)
{
#ifdef SOFTENING_CLAMP
    // 1/r beyond eps; within eps, where the force grows linearly, the matching parabola.
    float e = reciprocal_root(eps2);
    return r2 >= eps2 ? reciprocal_root(r2) : e * (1.5f - 0.5f * r2 / eps2);
#else
    return reciprocal_root(r2 + eps2);
#endif
}

// Computes phi_i = Σ_{j≠i} m_j · potential_of(r_ij): pairs in single precision, sums over tiles in `real`.
__kernel void potential(const uint n, const float eps2, __global const float4 *x, __global real *phi)
{
    __local float4 tile[REDUCE_GROUP];
    const uint i = get_global_id(0);
    const uint lane = get_local_id(0);
    const float4 own = i < n ? x[i] : (float4)(0.0f);
    real sum = real_of(0.0f);
    for (uint start = 0; start < n; start += REDUCE_GROUP) {
        tile[lane] = start + lane < n ? x[start + lane] : (float4)(0.0f);
        barrier(CLK_LOCAL_MEM_FENCE);
        float part = 0.0f;
        for (uint k = 0; k < REDUCE_GROUP; ++k) {
            float3 d = tile[k].xyz - own.xyz;
            float term = tile[k].w * potential_of(dot(d, d), eps2);
            part += start + k == i ? 0.0f : term;
        }
        sum = real_add(sum, real_of(part));
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n)
        phi[i] = sum;
}

// Writes per work-group the sums of `add_body`, with ½mφ for the potential, and the largest energy error of a body in one
// step. The steps store that error per mass in a.w (`missed` in force.cl).
__kernel void measure(const uint n, __global const float4 *x, __global const float4 *v, __global const float4 *a,
                      __global const real *phi, __global real *rows, __global float2 *maxima)
{
    __local real scratch[REDUCE_GROUP];
    __local float2 scratch_max[REDUCE_GROUP];
    real s[SUMS];
    clear_sums(s);
    float2 most = (float2)(0.0f);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        if (add_body(s, x[i].xyz, v[i].xyz, x[i].w))
            s[POTENTIAL] = real_add(s[POTENTIAL], real_scaled(phi[i], 0.5f * x[i].w));
        most.x = fmax(most.x, x[i].w * a[i].w);
    }
    store_sums(s, rows, scratch);
    store_maxima(most, maxima, scratch_max);
}
