// Kernels for all variants of the fluid: the driving force before the first step of a burst, the mean speeds, the
// brush, and the tracers and images to draw.

// Applies the driving force to `rows` grid rows, starting at row `first`, in place.
__kernel void open_burst(GRID, const COEFFICIENTS c, const uint first, const uint rows, __global const uchar *solid,
                         __global stored *f)
{
    const Grid g = THE_GRID;
    const uint x = get_global_id(0) % nx, row = get_global_id(0) / nx;
    if (row < rows) {
        Cell cell;
        get(&cell, &g, f, x, first + row);
        push(&cell, SOLID(solid + single(&g, x, first + row)), c);
        put(&g, f, x, first + row, &cell);
    }
}

#define SUM_GROUP 256

// For each step, adds up the work-groups' sums of speeds, multiplies the total by `share` and stores it in `series`.
// Each work-group adds up the sums of one step.
__kernel __attribute__((reqd_work_group_size(SUM_GROUP, 1, 1)))
void add_sums(const uint groups, __global const float *sums, __global float *series, const uint from,
              const float share)
{
    __local float scratch[SUM_GROUP];
    const uint lane = get_local_id(0), nth = get_global_id(0) / SUM_GROUP;
    float sum = 0.0f;
    for (uint k = lane; k < groups; k += SUM_GROUP)
        sum += sums[nth * groups + k];
    scratch[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_ = SUM_GROUP / 2; half_ > 0; half_ /= 2) {
        if (lane < half_)
            scratch[lane] += scratch[lane + half_];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        series[from + nth] = scratch[0] * share;
}

// Makes the cells within `radius` of the cell (px, py) solid (`value` 1), or free and at rest (0). The cell (px, py) may
// lie outside the grid. A freed cell keeps its density if that is plausible, and gets the scene's density otherwise.
__kernel void paint(GRID, const COEFFICIENTS c, const int px, const int py, const uint radius, const uint value,
                    __global uchar *solid, __global stored *f)
{
    const Grid g = THE_GRID;
    const uint x = get_global_id(0) % nx, y = get_global_id(0) / nx;
    if (y >= ny)
        return;
    const uint dx = abs_diff((int)x, px), dy = abs_diff((int)y, py);
    const uint i = single(&g, x, y);
    if (dx > radius || dy > radius || dx * dx + dy * dy > radius * radius || solid[i] == value)
        return;
    solid[i] = value;
    if (value == 0) {
        // The populations in a solid cell have the density of its surroundings. The scene's density would start a shock
        // wave where the flow has another density.
        Cell cell;
        get(&cell, &g, f, x, y);
        const float held = excess_of(&cell);
        const float excess = held > -0.5f * REST(c) && held < REST(c) ? held : 0.0f;
        const float axis = excess / 9.0f, diagonal = excess / 36.0f;
        const Cell rest = { 4.0f * axis, axis, axis, axis, axis, diagonal, diagonal, diagonal, diagonal };
        put(&g, f, x, y, &rest);
    }
}

// Writes the velocity, density and viscosity (ux, uy, ρ, ν) of each cell; all are 0 in a solid cell. ν > 0 is the
// viscosity that the next step uses. With LES, the viscosity differs from cell to cell.
__kernel void survey(GRID, const COEFFICIENTS c, __global const uchar *solid, __global const stored *f,
                     __global float4 *field)
{
    const Grid g = THE_GRID;
    const uint i = get_global_id(0);
    const uint x = i % nx, y = i / nx;
    if (y >= ny)
        return;
    if (solid[single(&g, x, y)]) {
        field[i] = (float4)(0.0f);
        return;
    }
    Cell cell;
    get(&cell, &g, f, x, y);
    const float rho = REST(c) + excess_of(&cell);
    float rate = c.s0;
#ifdef LES
    Cell arrived;
    pull(&arrived, &g, f, x, y, c);
    // fmin: a value that is not finite must not raise the rate above ω.
    rate = fmin(rate, turbulent_rate(&arrived, c));
#endif
    field[i] = (float4)(momentum_x(&cell) / rho, momentum_y(&cell) / rho, rho, (2.0f / rate - 1.0f) / 6.0f);
}

// Returns the column of the coordinate x. Beyond the ends of a row, returns the nearest column if INLET is defined, and
// otherwise the column after wrapping around.
uint column(uint nx, int x)
{
#ifdef INLET
    return (uint)clamp(x, 0, (int)nx - 1);
#else
    return (uint)(x < 0 ? x + (int)nx : x >= (int)nx ? x - (int)nx : x);
#endif
}

uint row(uint ny, int y)
{
    return (uint)(y < 0 ? y + (int)ny : y >= (int)ny ? y - (int)ny : y);
}

// Returns whether the position p is inside the grid. Compares bits, because compilers may assume that there is no NaN.
bool is_inside(float2 size, float2 p)
{
    return as_uint(p.x) < as_uint(size.x) && as_uint(p.y) < as_uint(size.y);
}

// Returns (ux, uy, vorticity) at p, interpolated between the four cells around it; the centre of a cell is at
// (x + ½, y + ½). Solid cells are at rest. Reads within the grid for every p, because positions may come from a file.
float3 flow_at(uint nx, uint ny, __global const float4 *field, float2 p)
{
    const float2 q = p - 0.5f, corner = floor(q), part = q - corner;
    const int2 cell = clamp(convert_int2_sat(corner), (int2)(-1), (int2)((int)nx - 1, (int)ny - 1));
    const uint x0 = column(nx, cell.x), x1 = column(nx, cell.x + 1);
    const uint y0 = row(ny, cell.y), y1 = row(ny, cell.y + 1);
    const float2 u00 = field[y0 * nx + x0].xy, u10 = field[y0 * nx + x1].xy;
    const float2 u01 = field[y1 * nx + x0].xy, u11 = field[y1 * nx + x1].xy;
    const float2 u = mix(mix(u00, u10, part.x), mix(u01, u11, part.x), part.y);
    return (float3)(u, mix(u10.y - u00.y, u11.y - u01.y, part.y) - mix(u01.x - u00.x, u11.x - u10.x, part.x));
}

// Returns pseudo-random bits from three numbers, by the mixing steps of PCG (Jarzynski and Olano 2020, JCGT 9, 3).
uint3 hashed(uint3 v)
{
    v = v * 1664525u + 1013904223u;
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v ^= v >> 16;
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    return v;
}

// Returns two pseudo-random numbers in [0, 1), derived from v.
float2 unit_square(uint3 v)
{
    return convert_float2(hashed(v).xy >> 8) * 0x1p-24f;
}

bool is_free(uint nx, uint ny, __global const float4 *field, float2 p)
{
    return field[min(convert_uint_sat(p.y), ny - 1) * nx + min(convert_uint_sat(p.x), nx - 1)].w > 0.0f;
}

// Returns a random free position for the tracer, or HIDDEN if TRIES attempts find none.
#define TRIES 16
#define HIDDEN ((float2)(-1.0f))

float2 anywhere(uint nx, uint ny, __global const float4 *field, uint tracer, uint now)
{
    for (uint nth = 0; nth < TRIES; ++nth) {
        const float2 p = unit_square((uint3)(tracer, now, nth)) * (float2)(nx, ny);
        if (is_free(nx, ny, field, p))
            return p;
    }
    return HIDDEN;
}

// Mean lifetime of a tracer in a flow with an inlet, in steps. With unlimited lifetimes, a gap between tracers that
// opened at the start of the flow would never close, because as many tracers enter as leave.
#define LIFE 3000.0f

// Moves the tracers with the flow for the time of `steps` steps, by the midpoint rule over distances of about half a
// cell. `now` is the number of steps since the start.
__kernel void carry(const uint n, const uint nx, const uint ny, const uint steps, const uint now,
                    __global const float4 *field, __global float2 *tracers)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const float2 size = (float2)(nx, ny);
    float2 p = tracers[i];
    if (!is_inside(size, p))
        p = anywhere(nx, ny, field, i, now);
#ifdef INLET
    if (unit_square((uint3)(i, now, TRIES + 1)).x * LIFE < (float)steps)
        p = anywhere(nx, ny, field, i, now);
#endif
    const float speed = p.x >= 0.0f ? length(flow_at(nx, ny, field, p).xy) : 0.0f;
    const uint parts = clamp((uint)(2.0f * speed * steps) + 1, 1u, 16u);
    const float dt = (float)steps / parts;
    for (uint k = 0; k < parts && p.x >= 0.0f; ++k) {
        const float2 middle = p + 0.5f * dt * flow_at(nx, ny, field, p).xy;
        p += dt * flow_at(nx, ny, field, clamp(middle, (float2)(0.0f), size)).xy;
#ifdef INLET
        if (!(p.x >= 0.0f && p.x < size.x)) {
            // A tracer that left at either end re-enters at the inlet.
            const float2 q = unit_square((uint3)(i, now, TRIES));
            p = (float2)(q.x * speed * steps, q.y * size.y);
        }
#else
        p.x -= size.x * floor(p.x / size.x);
#endif
        p.y -= size.y * floor(p.y / size.y);
        // Wrapping a tiny negative coordinate may round up to the grid's size. A tracer outside the grid gets a new
        // position.
        if (!is_inside(size, p) || !is_free(nx, ny, field, p))
            p = anywhere(nx, ny, field, i, now);
    }
    tracers[i] = p;
}

// Writes (x, y, ux, 1 + uy) of each tracer, with the longer side of the grid from -1 to 1 and velocities per step, and
// its speed or absolute vorticity as `value`; a hidden tracer has a last component of 0 and the value -1.
__kernel void pack(const uint n, const uint nx, const uint ny, const uint colour, __global const float4 *field,
                   __global const float2 *tracers, __global float4 *place, __global float *value)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const float2 p = tracers[i];
    const bool shown = is_inside((float2)(nx, ny), p);
    const float3 u = shown ? flow_at(nx, ny, field, p) : (float3)(0.0f);
    const float scale = 2.0f / max(nx, ny);
    place[i] = (float4)((p.x - 0.5f * nx) * scale, (p.y - 0.5f * ny) * scale, u.x * scale,
                        shown ? 1.0f + u.y * scale : 0.0f);
    value[i] = !shown ? -1.0f : colour == 0 ? length(u.xy) : fabs(u.z);
}

// Value of a solid cell in an image.
#define WALL -1e30f

// Writes one pixel for each `by` × `by` cells: the mean speed (`what` 0), vorticity (1) or density (2) of the free cells.
__kernel void image(const uint nx, const uint ny, const uint by, const uint what, __global const float4 *field,
                    __global float *pixels)
{
    const uint across = (nx + by - 1) / by;
    const uint i = get_global_id(0);
    const uint x0 = (i % across) * by, y0 = (i / across) * by;
    if (y0 >= ny)
        return;
    float sum = 0.0f, count = 0.0f;
    for (uint y = y0; y < min(y0 + by, ny); ++y) {
        for (uint x = x0; x < min(x0 + by, nx); ++x) {
            const float4 u = field[y * nx + x];
            if (u.w == 0.0f)
                continue;
            count += 1.0f;
            if (what == 0)
                sum += length(u.xy);
            else if (what == 2)
                sum += u.z;
            else
                sum += 0.5f * (field[y * nx + column(nx, (int)x + 1)].y - field[y * nx + column(nx, (int)x - 1)].y
                               - field[row(ny, (int)y + 1) * nx + x].x + field[row(ny, (int)y - 1) * nx + x].x);
        }
    }
    pixels[i] = count > 0.0f ? sum / count : WALL;
}
