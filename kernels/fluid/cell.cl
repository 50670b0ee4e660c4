// What happens in a cell, or in LANES of them beside each other at once. Shared by every variant, so that a variant
// differs from its neighbours only in its kernels and in where a grid lies in memory.
//
//     6 2 5
//      \|/      Speeds: 0 rests, 1 E, 2 N, 3 W, 4 S, 5 NE, 6 NW, 7 SW, 8 SE, with weights 4/9, 1/9 and 1/36. Units are
//     3-0-1     those of the lattice: a cell, a step; the speed of sound is √(1/3). BGK: Qian, d'Humières and Lallemand
//      /|\      1992, Europhys. Lett. 17, 479.
//     7 4 8
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

// Left to itself PoCL calls these functions, and keeps the cells in memory for them: four times as slow.
#define INLINED __attribute__((always_inline))

typedef struct {
    wide f0, f1, f2, f3, f4, f5, f6, f7, f8;
} Cell;

// c = (omega, density·accel/9, density·accel/36, inlet's speed, density)
#define COEFFICIENTS float8

INLINED wide density_of(const Cell *c)
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

// Beyond 0.3 of the speed of sound, where u² is 0.03, the method does not hold: there the fluid is made thicker, so that a jet through a
// narrow gap is slowed down and does not blow up. The rate of relaxation falls by so much for each u² beyond, down to 1, where a
// step forgets all but density and velocity.
#define FAST 0.03f
#define THICKENING 20.0f

// Solid cells send back what came in; all others relax towards equilibrium. `speed` gets |u|, 0 of solid cells.
INLINED void settle(Cell *cell, which solid, float omega, wide *speed)
{
    const Cell c = *cell;
    const wide rho = density_of(cell);
    const wide volume = 1.0f / rho;
    const wide ux = momentum_x(cell) * volume;
    const wide uy = momentum_y(cell) * volume;
    const wide u2 = ux * ux + uy * uy;
    *speed = solid ? (wide)(0.0f) : sqrt(u2);

    const wide rate = fmax(omega - THICKENING * fmax(u2 - FAST, 0.0f), (wide)(fmin(omega, 1.0f)));
    const wide kept = 1.0f - rate;
    const wide axis = rate * rho * (1.0f / 9.0f);
    const wide diagonal = 0.25f * axis;
    const wide still = 1.0f - 1.5f * u2;
    const wide sum = ux + uy;
    const wide rest = uy - ux;
    // What opposite speeds share, and what tells them apart.
    const wide even13 = axis * (still + 4.5f * (ux * ux)), odd13 = axis * (3.0f * ux);
    const wide even24 = axis * (still + 4.5f * (uy * uy)), odd24 = axis * (3.0f * uy);
    const wide even57 = diagonal * (still + 4.5f * (sum * sum)), odd57 = diagonal * (3.0f * sum);
    const wide even68 = diagonal * (still + 4.5f * (rest * rest)), odd68 = diagonal * (3.0f * rest);
    cell->f1 = kept * c.f1 + (even13 + odd13);
    cell->f3 = kept * c.f3 + (even13 - odd13);
    cell->f2 = kept * c.f2 + (even24 + odd24);
    cell->f4 = kept * c.f4 + (even24 - odd24);
    cell->f5 = kept * c.f5 + (even57 + odd57);
    cell->f7 = kept * c.f7 + (even57 - odd57);
    cell->f6 = kept * c.f6 + (even68 + odd68);
    cell->f8 = kept * c.f8 + (even68 - odd68);
    // What rests is what is left: the rounding of the weights would add a bias to the mass in every step.
    cell->f0 = rho - (((cell->f1 + cell->f3) + (cell->f2 + cell->f4)) + ((cell->f5 + cell->f7) + (cell->f6 + cell->f8)));

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

// Turns westward speeds into eastward ones, in free cells where some are left.
INLINED void push(Cell *c, which solid, COEFFICIENTS k)
{
    const which able = (solid == 0) & (c->f3 > k.s1) & (c->f6 > k.s2) & (c->f7 > k.s2);
    const wide axis = able ? (wide)(k.s1) : (wide)(0.0f);
    const wide diagonal = able ? (wide)(k.s2) : (wide)(0.0f);
    c->f1 += axis;
    c->f3 -= axis;
    c->f5 += diagonal;
    c->f7 -= diagonal;
    c->f8 += diagonal;
    c->f6 -= diagonal;
}

// What comes in from the left so that the first of the cells moves right at a given speed: Zou and He 1997, Phys. Fluids
// 9, 1591; what is not in equilibrium bounces back in diagonals too.
INLINED void enter(Cell *c, float speed)
{
    const float rho = (FIRST(c->f0) + FIRST(c->f2) + FIRST(c->f4)
                       + 2.0f * (FIRST(c->f3) + FIRST(c->f6) + FIRST(c->f7))) / (1.0f - speed);
    FIRST(c->f1) = FIRST(c->f3) + (2.0f / 3.0f) * rho * speed;
    FIRST(c->f5) = FIRST(c->f7) + (1.0f / 6.0f) * rho * speed;
    FIRST(c->f8) = FIRST(c->f6) + (1.0f / 6.0f) * rho * speed;
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
