// The position of the bodies in the grid from which the sort keys are computed, for GPUs and CPUs.

// Fraction of the width of the grid that the bodies leave free along each axis.
#define WIDER (1.0f / 7.0f)

// Mixes the bits of a number (the function lowbias32 of C. Wellons).
uint scramble(uint h)
{
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    return h ^ h >> 16;
}

// Returns the offset of the lowest corner of the box around the bodies from the lowest corner of the grid: 0 to WIDER
// along each axis, as a fraction of the grid's width. The offset is derived from the corners of the box. So the same
// positions give the same tree, but the offset differs from step to step, so that the errors of successive steps are
// nearly independent and add up less in energy and momentum (Springel et al. 2021, MNRAS 506, 2871).
float3 grid_shift(float3 low, float3 high)
{
    const float corners[6] = { low.x, low.y, low.z, high.x, high.y, high.z };
    uint h = 0;
    for (uint k = 0; k < 6; ++k)
        // Zeros of both signs give the same offset.
        h = scramble(h ^ (corners[k] == 0.0f ? 0 : as_uint(corners[k])));
    return WIDER / 1024.0f * (float3)((float)(h & 1023), (float)(h >> 10 & 1023), (float)(h >> 20 & 1023));
}
