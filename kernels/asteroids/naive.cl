// Tests every pair, and reads every operand from global memory.
__kernel WHOLE_GROUPS void advance(const uint n, const COEFFICIENTS c, __global const float4 *x_in,
                                   __global const float4 *v_in, OUTPUT)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    Contacts s = no_contacts();
    for (uint j = 0; j < n; ++j) {
        if (j != i && touches(x_in[i], x_in[j], c))
            meet(&s, n, i, j, i, j, x_in[i], v_in[i], x_in[j], v_in[j], c, OUT);
    }
    finish(s, i, i, x_in[i], v_in[i], c, OUT);
}
