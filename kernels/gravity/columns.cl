// The force on LANES bodies at once, one per lane, in columns. Used by `vector`, `blocked` and `mutual`.

// Returns m/r³, where r2 is the squared softened distance. The mass is multiplied before the third power, so that small
// factors do not vanish. If the mass is applied to the whole sum instead (m = 1, or EQUAL_MASS), distances are in UNIT.
wide pull(float m, wide r2)
{
#if defined(ROOT_INSTRUCTION) && LANES > 1
    // y approximates 1/r to 11 to 14 bits, with a relative error e. One step of Newton's method is folded into the
    // third power: m·y³·(5/2 − 3/2·r²·y²) has a relative error of 7.5 e².
    const wide y = root(r2);
    const wide y2 = y * y;
    return (1.5f * m * y) * (y2 * (5.0f / 3.0f - r2 * y2));
#elif LANES > 1
    // CPUs have vector instructions for root and division.
    const wide y = 1.0f / native_sqrt(r2);
    return (m * y) * (y * y);
#else
    const float y = root(r2);
#ifdef EQUAL_MASS
    return y * y * y;
#else
    return (m * y) * (y * y);
#endif
#endif
}

typedef struct {
    wide x, y, z;    // positions
    wide ax, ay, az; // sums of accelerations, without G
} Columns;

// Returns, for each lane, the squared softened distance of two bodies whose positions differ by (dx, dy, dz).
wide softened(wide dx, wide dy, wide dz, float eps2)
{
#ifdef SOFTENING_CLAMP
    const wide gap2 = dx * dx + (dy * dy + dz * dz);
    return gap2 > eps2 ? gap2 : (wide)(eps2);
#else
    return dx * dx + (dy * dy + (dz * dz + eps2));
#endif
}

void attract_columns(Columns *c, float4 other, float eps2)
{
    const wide dx = other.x - c->x;
    const wide dy = other.y - c->y;
    const wide dz = other.z - c->z;
    const wide f = pull(other.w, softened(dx, dy, dz, eps2));
    c->ax += dx * f;
    c->ay += dy * f;
    c->az += dz * f;
}
