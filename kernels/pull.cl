// The attraction or repulsion of the mouse pointer: a Plummer sphere at a fixed position acts on every body for a
// time.
//
// c = (x, y, z, strength · time, reach², unused)
__kernel void pull(const uint n, const float8 c, __global const float4 *x, __global float4 *v)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    float3 d = c.s012 - x[i].xyz;
    float root = rsqrt(dot(d, d) + c.s4);
    // A body that is excluded as not finite keeps its NaN velocity.
    v[i].xyz += d * (c.s3 * root * root * root);
}
