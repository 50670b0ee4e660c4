// Kernels that measure the conserved quantities of gravity.

// Returns the potential energies of 16 pairs divided by -G m_i m_j, from their squared distances. The derivative of the
// result with respect to r is -r times the softened 1/r³ of `fade` in force.cl.
float16 potential_of(float16 r2, float eps2)
{
#ifdef SOFTENING_CLAMP
    // 1/r at distances r beyond eps. Within eps, the force grows linearly, so the potential is a parabola.
    const float inner = reciprocal_root(eps2);
    return select(inner * (1.5f - 0.5f * r2 / eps2), reciprocal_root(r2), r2 >= eps2);
#else
    return reciprocal_root(r2 + eps2);
#endif
}

// Computes phi_i = Σ_{j≠i} m_j · potential_of(r_ij²). Pairs are computed in single precision, sums over tiles as
// `real`. Takes 16 bodies j at a time, because compilers for CPUs do not vectorise over work-items.
__kernel void potential(const uint n, const float eps2, __global const float4 *x, __global real *phi)
{
    __local float tile_x[REDUCE_GROUP], tile_y[REDUCE_GROUP], tile_z[REDUCE_GROUP], tile_m[REDUCE_GROUP];
    const uint16 lanes = (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const uint i = get_global_id(0);
    const uint lane = get_local_id(0);
    const float4 own = i < n ? x[i] : (float4)(0.0f);
    real sum = real_of(0.0f);
    for (uint start = 0; start < n; start += REDUCE_GROUP) {
        const float4 other = start + lane < n ? x[start + lane] : (float4)(0.0f);
        tile_x[lane] = other.x;
        tile_y[lane] = other.y;
        tile_z[lane] = other.z;
        tile_m[lane] = other.w;
        barrier(CLK_LOCAL_MEM_FENCE);
        float16 part = (float16)(0.0f);
        for (uint k = 0; k < REDUCE_GROUP / 16; ++k) {
            const float16 dx = vload16(k, tile_x) - own.x;
            const float16 dy = vload16(k, tile_y) - own.y;
            const float16 dz = vload16(k, tile_z) - own.z;
            const float16 term = vload16(k, tile_m) * potential_of(dx * dx + dy * dy + dz * dz, eps2);
            part += select(term, (float16)(0.0f), lanes + (start + 16 * k) == i);
        }
        sum = real_add(sum, real_of(sum_of(part)));
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n)
        phi[i] = sum;
}

// Writes per work-group the sums of `add_body`, with ½mφ for the potential, and the largest energy error of a body in
// one step. The kernels that advance the bodies store that error, per unit of mass, in a.w (`missed` in force.cl).
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
