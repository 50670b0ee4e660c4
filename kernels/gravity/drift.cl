// The opening half of a leapfrog step, from the acceleration of the last pass.
__kernel void drift(const uint n, const COEFFICIENTS c, __global const float4 *x_in, __global float4 *x_out,
                    __global float4 *v, __global const float4 *a)
{
    const uint i = get_global_id(0);
    if (i < n)
        finish_step(a[i].xyz, i, n, c, x_in, x_out, v);
}

// Writes (x, y, z, m) of each body, and the value that sets its colour. For COLOUR_COST, `a` holds the sums of a tree walk.
__kernel void pack(const uint n, const uint colour, __global const float4 *x, __global const float4 *v,
                   __global const float4 *a, __global float4 *packed, __global float *value)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    packed[i] = x[i];
    float shown;
    switch (colour) {
    case COLOUR_MASS: shown = decades(x[i].w); break;
    case COLOUR_ACCELERATION: shown = decades(length(a[i].xyz)); break;
    case COLOUR_ORIGIN: shown = v[i].w; break;
    case COLOUR_HEIGHT: shown = x[i].z; break;
    case COLOUR_COST: shown = a[i].w; break;
    case COLOUR_NONE: shown = 0.0f; break;
    default: shown = length(v[i].xyz); break;
    }
    value[i] = all_finite(v[i].xyz) ? shown : HELD_OUT;
}
