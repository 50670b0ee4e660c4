// Kernels that draw an image of the light of all bodies. Each body adds the light of its sprite (see
// shaders/points.vert, but without the variation from body to body) to the four nearest pixels. The sums are whole
// numbers, so that they do not depend on the order of the bodies.
//
// On a CPU, `OWN_IMAGES` is defined: each work-item adds the light of some of the bodies to a separate image, because
// atomic operations of several cores on the same pixels are slow, and computes with vectors of `LANES` bodies. On other
// devices, a work-item adds the light of one body with atomic operations.

#ifdef OWN_IMAGES
#define LANES 16
typedef float16 floats;
#define load(array) vload16(0, array)
#define store(values, array) vstore16(values, 0, array)
#define bits_of as_uint16
#define from_bits as_float16
#else
#define LANES 1
typedef float floats;
#define load(array) (*(array))
#define store(value, array) (*(array) = (value))
#define bits_of as_uint
#define from_bits as_float
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
#endif

#define KNOWN_BELOW 3e38f // bodies with a value of at least KNOWN_BELOW are drawn grey and faint

// Returns the sRGB colour of a body's value, from 0 to 1 per channel.
float3 hue_of(float value, float low, float high, __global const uchar4 *palette)
{
    if (value >= KNOWN_BELOW)
        return (float3)(0.5f, 0.52f, 0.56f);
    if (value >= LOWEST_COLOUR) {
        const uint code = (as_uint(value) & 0x7fffffu) << 1;
        return convert_float3((uint3)(code >> 16 & 255, code >> 8 & 255, code & 255)) / 255.0f;
    }
    float share = (value - low) / (high - low);
    // The comparison maps NaN to the lowest colour.
    share = share > 0.0f ? fmin(share, 1.0f) : 0.0f;
    return convert_float3(palette[convert_int(share * 255.0f + 0.5f)].xyz) / 255.0f;
}

// Returns the cube roots of numbers that are at least 0, with a relative error of about 1e-6. Uses no library function.
floats cube_root(floats x)
{
    // Dividing the bits by 3 divides the exponent by 3. Two steps of Newton's method follow.
    floats root = from_bits(bits_of(x) / 3u + 0x2a5137a0u);
    root = (2.0f * root + x / (root * root)) * (1.0f / 3.0f);
    return (2.0f * root + x / (root * root)) * (1.0f / 3.0f);
}

// Adds red, green, blue and the light itself to the four sums of a pixel.
void add_to(__global uint *pixel, uint4 units)
{
#ifdef OWN_IMAGES
    vstore4(vload4(0, pixel) + units, 0, pixel);
#elif defined(cl_khr_int64_base_atomics)
    // One operation on 64 bits adds to two sums. The sums are so small that nothing is carried from one to the other.
    atom_add((volatile __global ulong *)pixel, upsample(units.y, units.x));
    atom_add((volatile __global ulong *)pixel + 1, upsample(units.w, units.z));
#else
    atomic_add(pixel, units.x);
    atomic_add(pixel + 1, units.y);
    atomic_add(pixel + 2, units.z);
    atomic_add(pixel + 3, units.w);
#endif
}

// Adds 1 to a sum in global memory.
void add_one(__global uint *sum)
{
#ifdef OWN_IMAGES
    ++*sum;
#else
    atomic_inc(sum);
#endif
}

// Adds the light of the bodies from `first` to before `end`, at most `LANES`, to `sums`: four numbers per pixel, in units of
// 1 / `unit`, then the number of quarantined bodies. `sprites` holds 1 / typical mass, typical diameter, least and largest
// diameter, distance of the target, light, depth cue, and `unit`. `picture` holds width and height, each at least 2, and the
// values at the two ends of the colour map.
void add_bodies(const uint first, const uint end, const float16 view_projection, const float8 sprites, const float8 picture,
                __global const float4 *x, __global const float *values, __global const uchar4 *palette,
                __global uint *sums)
{
    const float mass_scale = sprites.s0, size = sprites.s1, distance = sprites.s4, unit = sprites.s7;
    const int width = convert_int(picture.s0), height = convert_int(picture.s1);
    float xs[LANES], ys[LANES], zs[LANES], masses[LANES];
    for (uint k = 0; k < LANES; ++k) {
        const float4 body = x[min(first + k, end - 1)];
        xs[k] = body.x;
        ys[k] = body.y;
        zs[k] = body.z;
        masses[k] = body.w;
    }
    const floats px = load(xs), py = load(ys), pz = load(zs);
    const float16 m = view_projection;
    const floats at_x = m.s0 * px + m.s4 * py + m.s8 * pz + m.sc, at_y = m.s1 * px + m.s5 * py + m.s9 * pz + m.sd;
    const floats at_z = m.s2 * px + m.s6 * py + m.sa * pz + m.se, at_w = m.s3 * px + m.s7 * py + m.sb * pz + m.sf;
    floats girth = 1.0f;
    if (mass_scale > 0.0f) {
        girth = fmax(cube_root(fmax(load(masses), 0.0f) * mass_scale), 0.5f);
        girth = select(girth, 4.0f + 0.32f * log2(fmin(girth, 1e9f) / 4.0f), girth > 4.0f);
    }
    const floats near = distance / fmax(at_w, 1e-3f * distance);
    // A body gives at least the light of a sprite of a tenth of the smallest diameter.
    const floats diameter = clamp(size * girth * near, 0.1f * sprites.s2, sprites.s3);
    floats cue = 1.0f;
    if (sprites.s6 > 0.0f)
        cue = exp2(sprites.s6 * log2(clamp(near, 1e-3f, 1.0f)));
    // π/16 is the mean of (1 - r²)³ over the square around the unit disc.
    float lights[LANES];
    store(sprites.s5 * unit * (M_PI_F / 16.0f) * cue * diameter * diameter, lights);
    // Four pixels share the light in proportion to their nearness. Pixels at an edge take what would fall outside.
    const floats column = clamp((0.5f + 0.5f * at_x / at_w) * picture.s0 - 0.5f, 0.0f, picture.s0 - 1.0f);
    const floats row = clamp((0.5f + 0.5f * at_y / at_w) * picture.s1 - 0.5f, 0.0f, picture.s1 - 1.0f);
    const floats left = fmin(floor(column), picture.s0 - 2.0f), low = fmin(floor(row), picture.s1 - 2.0f);
    float lefts[LANES], lows[LANES], rights[LANES], ups[LANES];
    store(left, lefts);
    store(low, lows);
    store(column - left, rights);
    store(row - low, ups);
    // The comparisons also leave out NaN.
    int in_view[LANES];
    store((fabs(at_x) < at_w) & (fabs(at_y) < at_w) & (fabs(at_z) <= at_w), in_view);
    for (uint k = 0; k < LANES && first + k < end; ++k) {
        const uint i = first + k;
        const float value = values[i];
        if (value == HELD_OUT)
            add_one(sums + 4 * width * height);
        if (value == HELD_OUT || !in_view[k])
            continue;
        const float known = value >= KNOWN_BELOW ? 0.03f : 1.0f;
        const float3 hue = hue_of(value, picture.s2, picture.s3, palette);
        const float4 amount = fmin((float4)(hue, 1.0f) * (lights[k] * known), 0x1p28f);
        // A body's index decides how its light is rounded, so that faint bodies keep their mean colour.
        const float dither = convert_float(i * 2654435769u >> 8) * 0x1p-24f;
        const float right = rights[k], up = ups[k];
        __global uint *pixel = sums + 4 * (convert_int(lows[k]) * width + convert_int(lefts[k]));
        add_to(pixel, convert_uint4(amount * ((1.0f - right) * (1.0f - up)) + dither));
        add_to(pixel + 4, convert_uint4(amount * (right * (1.0f - up)) + dither));
        pixel += 4 * width;
        add_to(pixel, convert_uint4(amount * ((1.0f - right) * up) + dither));
        add_to(pixel + 4, convert_uint4(amount * (right * up) + dither));
    }
}

// Computes the light of all bodies. Without `OWN_IMAGES`, each work-item adds the light of one body to a single image,
// which must be filled with zeros. With `OWN_IMAGES`, each work-item clears and fills a separate image, and the images
// follow each other in `sums`. `add_bodies` describes the layout of an image.
__kernel void add_light(const uint n, const float16 view_projection, const float8 sprites, const float8 picture,
                        __global const float4 *x, __global const float *values, __global const uchar4 *palette,
                        __global uint *sums)
{
    const uint task = get_global_id(0);
#ifdef OWN_IMAGES
    const uint tasks = get_global_size(0), length = 4 * (convert_uint(picture.s0) * convert_uint(picture.s1) + 1);
    const uint end = (ulong)n * (task + 1) / tasks;
    sums += (size_t)task * length;
    for (uint k = 0; k < length; ++k)
        sums[k] = 0;
    for (uint first = (ulong)n * task / tasks; first < end; first += LANES)
        add_bodies(first, end, view_projection, sprites, picture, x, values, palette, sums);
#else
    if (task < n)
        add_bodies(task, n, view_projection, sprites, picture, x, values, palette, sums);
#endif
}

#ifdef OWN_IMAGES
// Adds all images of `add_light` to the first one. `quads` is the number of `uint4` in an image.
__kernel void join_light(const uint images, const uint quads, __global uint4 *sums)
{
    const uint i = get_global_id(0);
    if (i >= quads)
        return;
    uint4 sum = sums[i];
    for (uint image = 1; image < images; ++image)
        sum += sums[(size_t)image * quads + i];
    sums[i] = sum;
}
#endif

// Writes an image of half the width and height, rounded up: each pixel of `halved` is the sum of four pixels of `sums`,
// an image of `width` x `height` pixels.
__kernel void halve_light(const uint width, const uint height, __global const uint4 *sums, __global uint4 *halved)
{
    const uint i = get_global_id(0), columns = (width + 1) / 2;
    const uint x = 2 * (i % columns), y = 2 * (i / columns);
    if (y >= height)
        return;
    const bool right = x + 1 < width, up = y + 1 < height;
    __global const uint4 *first = sums + y * width + x;
    uint4 sum = first[0];
    if (right)
        sum += first[1];
    if (up)
        sum += first[width];
    if (right && up)
        sum += first[width + 1];
    halved[i] = sum;
}

// Computes the displayed light of the four pixels that pixel `i` of `halved` covers. `halved` is the displayed image of
// half the width and height. Where `halved` has little light, a pixel displays the light of `halved`, so that the light
// of few bodies is spread over many pixels. Where `halved` has much light, a pixel displays its own light. Little light
// is less than `little` per pixel, in units of the sums; much light is more than ten times as much; in between, both
// are mixed. If `little` is 0, each pixel displays its own light. The result goes to `shown` or, multiplied by `scale`
// and as half-precision numbers, to `image`; the other pointer is 0.
void show_light(const uint i, const int width, const int height, const float little, __global const uint4 *sums,
                __global const float4 *halved, __global float4 *shown, __global half *image, const float scale)
{
    const int columns = (width + 1) / 2, rows = (height + 1) / 2;
    const int column = i % columns, row = i / columns;
    // Light of the four pixels, interpolated linearly in `halved`, whose nearest pixel centre is a quarter of a pixel
    // away.
    float4 spread[4];
    if (little > 0.0f) {
        const int left = max(column - 1, 0), right = min(column + 1, columns - 1);
        float4 sides[6];
        for (int k = 0; k < 3; ++k) {
            __global const float4 *line = halved + clamp(row + k - 1, 0, rows - 1) * columns;
            const float4 middle = 0.1875f * line[column];
            sides[2 * k] = middle + 0.0625f * line[left];
            sides[2 * k + 1] = middle + 0.0625f * line[right];
        }
        for (int k = 0; k < 4; ++k)
            spread[k] = 0.75f * sides[2 + k % 2] + 0.25f * sides[k / 2 * 4 + k % 2];
    }
    for (int k = 0; k < 4; ++k) {
        const int x = 2 * column + k % 2, y = 2 * row + k / 2, at = y * width + x;
        if (x >= width || y >= height)
            continue;
        float4 light = convert_float4(sums[at]);
        if (little > 0.0f)
            light = mix(spread[k], light, smoothstep(little, 10.0f * little, spread[k].w));
        if (image)
            vstore_half4(fmin(light * scale, 6e4f), at, image);
        else
            shown[at] = light;
    }
}

// Computes the displayed light of an image of `width` x `height` pixels; see `show_light`.
__kernel void spread_light(const uint width, const uint height, const float little, __global const uint4 *sums,
                           __global const float4 *halved, __global float4 *shown)
{
    const uint i = get_global_id(0);
    if (i < ((width + 1) / 2) * ((height + 1) / 2))
        show_light(i, width, height, little, sums, halved, shown, 0, 1.0f);
}

// Writes the displayed light of the full-size image as half-precision numbers, then the number of quarantined bodies as
// two 16-bit parts.
__kernel void finish_light(const uint width, const uint height, const float little, __global const uint4 *sums,
                           __global const float4 *halved, const float scale, __global ushort4 *image)
{
    const uint i = get_global_id(0), pixels = width * height;
    if (i < ((width + 1) / 2) * ((height + 1) / 2))
        show_light(i, width, height, little, sums, halved, 0, (__global half *)image, scale);
    if (i == 0)
        image[pixels] = (ushort4)(sums[pixels].x & 0xffff, sums[pixels].x >> 16, 0, 0);
}

// Copies every `stride`-th body. `n` is the number of copies.
__kernel void list_bodies(const uint n, const uint stride, __global const float4 *x, __global const float *values,
                          __global float4 *listed, __global float *listed_values)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    listed[i] = x[(size_t)i * stride];
    listed_values[i] = values[(size_t)i * stride];
}
