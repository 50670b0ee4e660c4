// What gravity conserves. Quarantined bodies (mass 0, velocity NaN) add nothing and are counted.

// The potential of a pair over -G m_i m_j, matching `fade`: its derivative is r·s(r).
float potential_of(float r2, float eps2)
{
#ifdef SOFTENING_CLAMP
    // Beyond eps 1/r; within, where the force grows linearly, the parabola that meets it.
    float e = native_rsqrt(eps2);
    return r2 >= eps2 ? native_rsqrt(r2) : e * (1.5f - 0.5f * r2 / eps2);
#else
    return native_rsqrt(r2 + eps2);
#endif
}

// phi_i = Σ_{j≠i} m_j · potential_of(r_ij): pairs in single precision, sums over tiles in `real`.
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

// One row of ten sums per work-group: ½mv², ½mφ, mv (3), m|v|, m x×v (3), bodies held out.
__kernel void measure(const uint n, __global const float4 *x, __global const float4 *v,
                      __global const real *phi, __global real *rows)
{
    __local real scratch[REDUCE_GROUP];
    real s[10];
    for (uint k = 0; k < 10; ++k)
        s[k] = real_of(0.0f);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        const float3 p = x[i].xyz;
        const float3 u = v[i].xyz;
        const float m = x[i].w;
        if (!all_finite(u)) {
            s[9] = real_add(s[9], real_of(1.0f));
            continue;
        }
        real u2 = real_add(real_add(real_product(u.x, u.x), real_product(u.y, u.y)), real_product(u.z, u.z));
        s[0] = real_add(s[0], real_scaled(u2, 0.5f * m));
        s[1] = real_add(s[1], real_scaled(phi[i], 0.5f * m));
        s[2] = real_add(s[2], real_product(m, u.x));
        s[3] = real_add(s[3], real_product(m, u.y));
        s[4] = real_add(s[4], real_product(m, u.z));
        s[5] = real_add(s[5], real_product(m, length(u)));
        s[6] = real_add(s[6], real_scaled(real_add(real_product(p.y, u.z), real_product(-p.z, u.y)), m));
        s[7] = real_add(s[7], real_scaled(real_add(real_product(p.z, u.x), real_product(-p.x, u.z)), m));
        s[8] = real_add(s[8], real_scaled(real_add(real_product(p.x, u.y), real_product(-p.y, u.x)), m));
    }
    for (uint k = 0; k < 10; ++k) {
        real sum = group_sum(s[k], scratch);
        if (get_local_id(0) == 0)
            rows[get_group_id(0) * 10 + k] = sum;
    }
}
