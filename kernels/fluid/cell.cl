// Collision, driving force and inlet for a cell, or for LANES adjacent cells at once. All variants of the fluid use
// this file: they differ only in their kernels and in the memory layout of the grid.
//
//     6 2 5
//      \|/      Speeds: 0 rests, 1 E, 2 N, 3 W, 4 S, 5 NE, 6 NW, 7 SW, 8 SE, with weights 4/9, 1/9 and 1/36. Units are
//     3-0-1     those of the lattice: a cell, a step; the speed of sound is √(1/3).
//      /|\
//     7 4 8
//
// A cell holds the deviation h = f − w·ρ₀ of each population f from a fluid at rest of density ρ₀. No term below adds
// w·ρ₀ back: seven digits of h resolve a slow flow that seven digits of f would lose (Skordos 1993, Phys. Rev. E 48,
// 4823).
#ifndef LANES
#define LANES 1
#endif

#if LANES == 16
typedef float16 wide;
typedef int16 which;
#define LOAD(p) vload16(0, p)
#define SOLID(p) (convert_int16(vload16(0, p)) != 0)
#define FIRST(v) (v).s0
#elif LANES == 8
typedef float8 wide;
typedef int8 which;
#define LOAD(p) vload8(0, p)
#define SOLID(p) (convert_int8(vload8(0, p)) != 0)
#define FIRST(v) (v).s0
#else
typedef float wide;
typedef int which;
#define LOAD(p) (*(p))
#define SOLID(p) (*(p) != 0)
#define FIRST(v) (v)
#endif

// Without forced inlining PoCL emits calls and passes cells through memory, which is four times as slow.
#define INLINED __attribute__((always_inline))

// Deviations of a cell's nine populations from a fluid at rest.
typedef struct {
    wide f0, f1, f2, f3, f4, f5, f6, f7, f8;
} Cell;

// Coefficients: (omega, density·accel/9, density·accel/36, inlet speed, ρ₀, a parameter of the collision operator).
#define COEFFICIENTS float8
#define REST(c) ((c).s4)

// Returns δρ = ρ − ρ₀, the difference between the density and the density at rest.
INLINED wide excess_of(const Cell *c)
{
    return c->f0 + ((c->f1 + c->f3) + (c->f2 + c->f4)) + ((c->f5 + c->f7) + (c->f6 + c->f8));
}

INLINED wide momentum_x(const Cell *c)
{
    return (c->f1 - c->f3) + (c->f5 - c->f7) + (c->f8 - c->f6);
}

INLINED wide momentum_y(const Cell *c)
{
    return (c->f2 - c->f4) + (c->f5 - c->f7) + (c->f6 - c->f8);
}

#ifdef LES
// Returns the relaxation rate ω that corresponds to the sum of the viscosity and the eddy viscosity C²·|S|. The rate of
// strain S follows from the cell's non-equilibrium stress Π, so that 1/ω = (1/ω₀ + √(1/ω₀² + 18√2·C²·|Π|/ρ))/2.
// Smagorinsky's model: Hou, Sterling, Chen and Doolen 1996, Fields Inst. Commun. 6, 151. k.s0 is ω₀, k.s5 is 18√2·C².
INLINED wide turbulent_rate(const Cell *c, COEFFICIENTS k)
{
    const wide excess = excess_of(c), jx = momentum_x(c), jy = momentum_y(c);
    const wide volume = 1.0f / (REST(k) + excess), pressure = excess * (1.0f / 3.0f);
    const wide diagonals = (c->f5 + c->f7) + (c->f6 + c->f8);
    const wide xx = (c->f1 + c->f3) + diagonals - pressure - jx * jx * volume;
    const wide yy = (c->f2 + c->f4) + diagonals - pressure - jy * jy * volume;
    const wide xy = (c->f5 + c->f7) - (c->f6 + c->f8) - jx * jy * volume;
    const wide stress = sqrt(xx * xx + yy * yy + 2.0f * (xy * xy));
    return 2.0f * k.s0 / (1.0f + sqrt(1.0f + k.s0 * k.s0 * k.s5 * stress * volume));
}
#endif

// Collision step. Solid cells reflect the incoming populations; all other cells relax towards equilibrium,
//     h_eq = w·(δρ + ρ·(3 e·u + 4.5 (e·u)² − 1.5 u²)),
// by the collision operator that is compiled in. Sets `speed` to |u|, 0 in solid cells.
//     BGK: one rate ω for all populations. Qian, d'Humières and Lallemand 1992, Europhys. Lett. 17, 479.
//     TRT: rate ω for the even part of opposite populations (half their sum), k.s5 for the odd part (half their
//          difference). Ginzburg, Verhaeghe and d'Humières 2008, Commun. Comput. Phys. 3, 427.
//     LES: BGK with the rate of `turbulent_rate`.
INLINED void settle(Cell *cell, which solid, COEFFICIENTS k, wide *speed)
{
    const Cell c = *cell;
    const wide excess = excess_of(cell);
    const wide volume = 1.0f / (REST(k) + excess);
    const wide jx = momentum_x(cell), jy = momentum_y(cell);
    // ρu_x², ρu_y², ρu_x·u_y and ρu².
    const wide xx = jx * (jx * volume), yy = jy * (jy * volume), xy = jx * (jy * volume);
    const wide flux = xx + yy;
    *speed = solid ? (wide)(0.0f) : sqrt(flux * volume);

#ifdef LES
    const wide rate = turbulent_rate(&c, k);
#else
    const float rate = k.s0;
#endif
#ifdef TRT
    const float odd_rate = k.s5;
#else
#define odd_rate rate
#endif
    // Even and odd parts of the equilibrium of opposite populations, times their rates. 2·line + 4·line_diagonal must not
    // depend on the rounding of 1/3: otherwise the momentum would grow or fade in every step.
    const wide half_rate = 0.5f * rate;
    const wide square_x = half_rate * xx, square_y = half_rate * yy, squares = square_x + square_y;
    const wide cross = 0.5f * half_rate * xy;
    const wide axis = rate * (1.0f / 9.0f) * excess - (1.0f / 3.0f) * squares;
    const wide diagonal = 0.25f * (axis + squares);
    const wide line = odd_rate * (1.0f / 3.0f), line_diagonal = 0.25f * (odd_rate - 2.0f * line);
    const wide even13 = axis + square_x, odd13 = line * jx;
    const wide even24 = axis + square_y, odd24 = line * jy;
    const wide even57 = diagonal + cross, odd57 = line_diagonal * (jx + jy);
    const wide even68 = diagonal - cross, odd68 = line_diagonal * (jy - jx);
#ifdef TRT
    // (1 − (ω⁺ + ω⁻)/2)·own + (ω⁻ − ω⁺)/2·opposite: half their sum relaxes by ω⁺, half their difference by ω⁻.
    const float kept = 1.0f - 0.5f * (rate + odd_rate), swapped = 0.5f * (odd_rate - rate);
#define KEPT(own, opposite) (kept * (own) + swapped * (opposite))
#else
    const wide kept = 1.0f - rate;
#define KEPT(own, opposite) (kept * (own))
#endif
    cell->f1 = KEPT(c.f1, c.f3) + (even13 + odd13);
    cell->f3 = KEPT(c.f3, c.f1) + (even13 - odd13);
    cell->f2 = KEPT(c.f2, c.f4) + (even24 + odd24);
    cell->f4 = KEPT(c.f4, c.f2) + (even24 - odd24);
    cell->f5 = KEPT(c.f5, c.f7) + (even57 + odd57);
    cell->f7 = KEPT(c.f7, c.f5) + (even57 - odd57);
    cell->f6 = KEPT(c.f6, c.f8) + (even68 + odd68);
    cell->f8 = KEPT(c.f8, c.f6) + (even68 - odd68);
    // Computed as the remainder, which conserves mass: rounded weights would add a bias to the mass in every step.
    cell->f0 = excess - (((cell->f1 + cell->f3) + (cell->f2 + cell->f4)) + ((cell->f5 + cell->f7) + (cell->f6 + cell->f8)));

    cell->f0 = solid ? c.f0 : cell->f0;
    cell->f1 = solid ? c.f3 : cell->f1;
    cell->f2 = solid ? c.f4 : cell->f2;
    cell->f3 = solid ? c.f1 : cell->f3;
    cell->f4 = solid ? c.f2 : cell->f4;
    cell->f5 = solid ? c.f7 : cell->f5;
    cell->f6 = solid ? c.f8 : cell->f6;
    cell->f7 = solid ? c.f5 : cell->f7;
    cell->f8 = solid ? c.f6 : cell->f8;
}

// Applies the driving force: moves part of the westward populations to the eastward populations. Skips solid cells, and
// cells where a westward population would not stay positive.
INLINED void push(Cell *c, which solid, COEFFICIENTS k)
{
    const float least = k.s1 - REST(k) / 9.0f, least_diagonal = k.s2 - REST(k) / 36.0f;
    const which able = (solid == 0) & (c->f3 > least) & (c->f6 > least_diagonal) & (c->f7 > least_diagonal);
    const wide axis = able ? (wide)(k.s1) : (wide)(0.0f);
    const wide diagonal = able ? (wide)(k.s2) : (wide)(0.0f);
    c->f1 += axis;
    c->f3 -= axis;
    c->f5 += diagonal;
    c->f7 -= diagonal;
    c->f8 += diagonal;
    c->f6 -= diagonal;
}

// Sets the populations that enter the first cell of a row from the left, so that the fluid there moves right at the
// speed of the inlet (Zou and He 1997, Phys. Fluids 9, 1591). The non-equilibrium part also bounces back along the
// diagonals.
INLINED void enter(Cell *c, COEFFICIENTS k)
{
    const float rho = (REST(k) + (FIRST(c->f0) + FIRST(c->f2) + FIRST(c->f4)
                                  + 2.0f * (FIRST(c->f3) + FIRST(c->f6) + FIRST(c->f7)))) / (1.0f - k.s3);
    FIRST(c->f1) = FIRST(c->f3) + (2.0f / 3.0f) * rho * k.s3;
    FIRST(c->f5) = FIRST(c->f7) + (1.0f / 6.0f) * rho * k.s3;
    FIRST(c->f8) = FIRST(c->f6) + (1.0f / 6.0f) * rho * k.s3;
}

INLINED float total(wide v)
{
#if LANES == 16
    const float8 a = v.lo + v.hi;
    const float4 b = a.lo + a.hi;
    return (b.x + b.y) + (b.z + b.w);
#elif LANES == 8
    const float4 b = v.lo + v.hi;
    return (b.x + b.y) + (b.z + b.w);
#else
    return v;
#endif
}
