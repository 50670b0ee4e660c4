// Two bodies that touch, and how a step ends. Shared by every variant, so that a variant differs from its
// neighbours only in how it finds who touches whom.
//
// On the device a body is x = (x, y, z, ρ) and v = (vx, vy, vz, m); its radius is ρ times the parameter `radius`.
// A body that is held out has ρ = NaN, so that it touches nobody.

// c = (dt, decay, 1 + restitution, friction, push, radius, G · planet's mass, planet's radius)
#define COEFFICIENTS float8

// What the others do to a body in one step.
typedef struct {
    float3 dv;     // Σ Δv
    float3 dx;     // Σ push
    uint hits;     // others that it touches and approaches
    uint met;      // bodies in the cells around it, where there are cells
    float overlap; // the deepest overlap over its own radius
} Contacts;

Contacts no_contacts(void)
{
    Contacts s = { (float3)(0.0f), (float3)(0.0f), 0, 0, 0.0f };
    return s;
}

// Explicit fma, so that every variant rounds alike and finds the same pairs.
float square(float3 d)
{
    return fma(d.x, d.x, fma(d.y, d.y, d.z * d.z));
}

bool touches(float4 a, float4 b, COEFFICIENTS c)
{
    float reach = (a.w + b.w) * c.s5;
    return square(b.xyz - a.xyz) < reach * reach;
}

// One contact of body i with something at distance `r` in direction n, of which it takes the part `share`: the
// impulse if they approach, and the push apart. `rel` is its velocity relative to the other.
void touch(Contacts *s, float3 n, float3 rel, float overlap, float share, COEFFICIENTS c)
{
    float u = dot(rel, n);
    if (u > 0.0f)
        s->dv -= share * (c.s2 * u * n + c.s3 * (rel - u * n));
    s->dx -= (share * c.s4 * overlap) * n;
}

// Adds what body j at (b, vb) does to body i at (a, va), which it touches.
void collide(Contacts *s, uint i, uint j, float4 a, float4 va, float4 b, float4 vb, COEFFICIENTS c)
{
    float3 d = b.xyz - a.xyz;
    float r = sqrt(square(d));
    // Bodies in the same place are parted along x, the first to the left.
    float3 n = r > 0.0f ? d / r : (float3)(i < j ? 1.0f : -1.0f, 0.0f, 0.0f);
    float mass = va.w + vb.w;
    float share = mass > 0.0f ? vb.w / mass : 0.5f;
    float3 rel = va.xyz - vb.xyz;
    float overlap = (a.w + b.w) * c.s5 - r;
    touch(s, n, rel, overlap, share, c);
    s->hits += dot(rel, n) > 0.0f;
    s->overlap = fmax(s->overlap, overlap / fmax(a.w * c.s5, FLT_MIN));
}

// The planet at the origin: its pull, and the bounce off it.
float3 planet(Contacts *s, float4 a, float4 va, COEFFICIENTS c)
{
    float r = sqrt(square(a.xyz));
    float reach = c.s7 + a.w * c.s5;
    if (c.s7 > 0.0f && r < reach) {
        float3 n = r > 0.0f ? -a.xyz / r : (float3)(-1.0f, 0.0f, 0.0f);
        touch(s, n, va.xyz, reach - r, 1.0f, c);
    }
    // Within the planet the pull does not grow any more.
    float near = fmax(fmax(r, c.s7), 1e-6f);
    return a.xyz * (-c.s6 / (near * near * near));
}

// v ← (v + Σ Δv + a·dt)·decay; x ← x + v·dt + Σ push. `contact` gets (hits, deepest overlap, steps since the last
// hit, bodies met).
void finish_step(Contacts s, float4 a, float4 va, COEFFICIENTS c, __global float4 *x_out, __global float4 *v_out,
                 __global float4 *contact)
{
    float3 pull = planet(&s, a, va, c);
    float3 v = fma(pull, (float3)(c.s0), va.xyz + s.dv) * c.s1;
    float3 x = fma(v, (float3)(c.s0), a.xyz) + s.dx;
    if (all_finite(x) && all_finite(v)) {
        *x_out = (float4)(x, a.w);
        *v_out = (float4)(v, va.w);
    } else {
        *x_out = (float4)(a.xyz, NAN);
        *v_out = (float4)((float3)(NAN), va.w);
    }
    float age = s.hits > 0 ? 0.0f : contact->z + 1.0f;
    *contact = (float4)((float)s.hits, s.overlap, age, (float)s.met);
}
