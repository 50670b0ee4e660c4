// Every pair is looked at, and every operand comes from global memory.
__kernel WHOLE_GROUPS void advance(const uint n, const COEFFICIENTS c, __global const float4 *x_in,
                                   __global const float4 *v_in, __global float4 *x_out, __global float4 *v_out,
                                   __global float4 *contact)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    Contacts s = no_contacts();
    for (uint j = 0; j < n; ++j) {
        if (j != i && touches(x_in[i], x_in[j], c))
            collide(&s, i, j, x_in[i], v_in[i], x_in[j], v_in[j], c);
    }
    finish_step(s, x_in[i], v_in[i], c, &x_out[i], &v_out[i], &contact[i]);
}
