// Attraction or repulsion by the mouse pointer: a Plummer sphere at a fixed position acts on every body for some time.
// Unless an immovable body takes the recoil, the mean change of velocity is subtracted from the change of each body, so
// that the total momentum stays constant and the centre of mass does not leave the picture.
//
// c = (x, y, z, strength · time, reach², 1 if the total momentum stays constant or else 0, unused, unused)
//
// The mass of body i is MASS_IN[i].w.

// Returns the change of velocity that the Plummer sphere causes in a body at the position `place`.
float3 kick(const float8 c, float3 place)
{
    float3 d = c.s012 - place;
    float root = rsqrt(dot(d, d) + c.s4);
    return d * (c.s3 * root * root * root);
}

// Writes the sums of m·kick (3 numbers) and of m over the bodies with finite values, one row of sums per work-group.
// Runs in REDUCE_GROUP work-groups.
__kernel void recoil(const uint n, const float8 c, __global const float4 *x, __global const float4 *v,
                     __global real *rows)
{
    __local real scratch[REDUCE_GROUP];
    real s[SUMS];
    clear_sums(s);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        const float3 u = kick(c, x[i].xyz);
        const float m = MASS_IN[i].w;
        if (!all_finite(v[i].xyz) || !all_finite(u))
            continue;
        s[0] = real_add(s[0], real_product(m, u.x));
        s[1] = real_add(s[1], real_product(m, u.y));
        s[2] = real_add(s[2], real_product(m, u.z));
        s[3] = real_add(s[3], real_of(m));
    }
    store_sums(s, rows, scratch);
}

// Changes the velocity of each body by its kick, minus the mean of all kicks weighted by mass. Every work-group adds up
// the rows of `recoil` in the same order.
__kernel void pull(const uint n, const float8 c, __global const float4 *x, __global float4 *v,
                   __global const real *rows)
{
    __local real scratch[REDUCE_GROUP];
    float s[SUMS];
    for (uint k = 0; k < SUMS; ++k)
        s[k] = real_rounded(group_sum(rows[get_local_id(0) * SUMS + k], scratch));
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const float3 mean = s[3] > 0.0f ? (float3)(s[0], s[1], s[2]) * (c.s5 / s[3]) : (float3)(0.0f);
    // A body that is excluded as not finite keeps its NaN velocity.
    v[i].xyz += kick(c, x[i].xyz) - mean;
}
