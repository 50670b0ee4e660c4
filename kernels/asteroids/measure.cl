// Kernels that measure the conserved quantities and readings of asteroids, and that pack the bodies to draw.

// Writes per work-group the sums of `add_body`, the sums of the hits and of the bodies in the surrounding cells, and
// the maxima of the overlap and of speed / max(ρ, least).
__kernel void measure(const uint n, const float planet_radius, const float least, __global const float4 *x, __global const float4 *v,
                      __global const float4 *contact, __global real *rows, __global float2 *maxima)
{
    __local real scratch[REDUCE_GROUP];
    __local float2 scratch_max[REDUCE_GROUP];
    real s[SUMS];
    clear_sums(s);
    float2 most = (float2)(0.0f);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        const float4 u = v[i];
        if (!add_body(s, x[i].xyz, u.xyz, u.w))
            continue;
        // The planet's potential divided by -GM.
        float r = fmax(fmax(length(x[i].xyz), planet_radius), 1e-6f);
        s[POTENTIAL] = real_add(s[POTENTIAL], real_of(u.w / r));
        s[EXTRA] = real_add(s[EXTRA], real_of(contact[i].x));
        s[EXTRA + 1] = real_add(s[EXTRA + 1], real_of(contact[i].w));
        most = fmax(most, (float2)(contact[i].y, length(u.xyz) / fmax(x[i].w, least)));
    }
    store_sums(s, rows, scratch);
    store_maxima(most, maxima, scratch_max);
}

// Number of steps after a hit in which the flash of a body fades to 1/e of its brightness.
#define FLASH_STEPS 10.0f

// Returns the radius with the brightness of the body's flash after a hit, from 0 to 15, stored in the last four bits.
// The radius changes by less than two millionths.
float flashing(float radius, float age)
{
    const uint flash = (uint)(15.0f * exp(-age / FLASH_STEPS) + 0.5f);
    return radius > 0.0f ? as_float((as_uint(radius) & ~15u) | flash) : radius;
}

// Writes (x, y, z, radius) of each body, with its flash in the last bits of the radius, and the value that sets its
// colour. The acceleration is the change of velocity in the last substep divided by dt, the length of the substep.
// Before the first step, dt is 0, and the acceleration is that due to the planet's gravity; GM is G times the planet's
// mass.
__kernel void pack(const uint n, const float radius, const uint colour, const float dt, const float GM,
                   __global const float4 *x, __global const float4 *v, __global const float4 *v_before,
                   __global const float4 *contact, __global const float *origin, __global float4 *packed,
                   __global float *value)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const bool is_held_out = !all_finite(v[i].xyz);
    packed[i] = (float4)(x[i].xyz, is_held_out ? 0.0f : flashing(x[i].w * radius, contact[i].z));
    float shown;
    switch (colour) {
    case COLOUR_MASS: shown = v[i].w; break;
    case COLOUR_ACCELERATION:
        shown = decades(dt > 0.0f ? length(v[i].xyz - v_before[i].xyz) / dt : GM / dot(x[i].xyz, x[i].xyz));
        break;
    case COLOUR_ORIGIN: shown = origin[i]; break;
    case COLOUR_HEIGHT: shown = x[i].z; break;
    case COLOUR_HIT: shown = exp(-contact[i].z / 30.0f); break;
    default: shown = length(v[i].xyz); break;
    }
    value[i] = is_held_out ? HELD_OUT : shown;
}
