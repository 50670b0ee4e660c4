// Computes the first half of a leapfrog step (half-kick and drift) from the accelerations of the last pass.
__kernel void drift(const uint n, const COEFFICIENTS c, __global const float4 *x_in, __global float4 *x_out,
                    __global float4 *v, __global const float4 *a)
{
    const uint i = get_global_id(0);
    if (i < n)
        finish_step(a[i].xyz, i, n, c, x_in, x_out, v);
}

// Returns a value that encodes the colour of a star (see `LOWEST_COLOUR` in shaders/common.glsl). Even groups are the
// bulges of galaxies, with old, mostly cool stars. Odd groups are discs, which also have young, hot stars. Groups below
// 0 are dark halos, whose bodies are nearly invisible. The index `i` of the body selects its colour at random.
float star_colour(uint i, float group)
{
    if (group < 0.0f)
        return FAINT;
    const float3 cool = (float3)(1.0f, 0.71f, 0.42f), warm = (float3)(1.0f, 0.9f, 0.76f);
    const float3 white = (float3)(0.97f, 0.96f, 1.0f), hot = (float3)(0.48f, 0.66f, 1.0f);
    // A random number from 0 to 1, evenly distributed (finaliser of MurmurHash3, Appleby 2011, public domain).
    uint hash = i * 0x9e3779b9u;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    const float chance = convert_float((hash ^ hash >> 16) >> 8) * 0x1p-24f;
    // A tenth of the old stars are hot, like the blue stars of globular clusters.
    const float old = chance < 0.9f ? 1.3f * chance : 1.2f + 18.0f * (chance - 0.9f);
    const float heat = (convert_uint(group) & 1) == 0 ? old : 1.0f + 2.0f * sqrt(chance);
    const float3 colour = heat < 1.0f ? mix(cool, warm, heat)
                        : heat < 2.0f ? mix(warm, white, heat - 1.0f) : mix(white, hot, heat - 2.0f);
    const uint3 rgb = convert_uint3(colour * 255.0f + 0.5f);
    return as_float(as_uint(LOWEST_COLOUR) | (rgb.x << 16 | rgb.y << 8 | rgb.z) >> 1);
}

// Writes (x, y, z, m) of each body, and the value that sets its colour. For COLOUR_COST, `a` holds the sums of a tree
// walk.
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
    case COLOUR_STARS: shown = star_colour(i, v[i].w); break;
    default: shown = length(v[i].xyz); break;
    }
    value[i] = all_finite(v[i].xyz) ? shown : HELD_OUT;
}
