// The contact law, and how a step ends. Shared by every variant, so that a variant differs from its neighbours only in
// how it finds who touches whom.
//
// On the device a body is x = (x, y, z, ρ) and v = (vx, vy, vz, m); its radius is ρ times the parameter `radius`.
// A body that is held out has ρ = NaN, so that it touches nobody.
//
// There are two laws. With `simple` a step is one pass: every body adds the whole impulse of each of its contacts. With
// `match` (the define MATCH) a step is two passes: the first one classifies and counts the contacts of every body and
// lists the partners, the second one divides the impulses by the counts of both sides. A variant calls `meet` for each
// pair that touches and `finish` at the end, under both laws.

// c = (dt, decay, restitution, friction, push, radius, G · planet's mass, planet's radius, the part of a step that a substep
// is, 1 in every substep of a step but the first one, …). dt is that of a substep; decay is 1 in all substeps but the last one.
#define COEFFICIENTS float16

// Explicit fma, so that every variant and both sides of a pair round alike and decide alike.
float inner(float3 a, float3 b)
{
    return fma(a.x, b.x, fma(a.y, b.y, a.z * b.z));
}

float square(float3 d)
{
    return inner(d, d);
}

bool touches(float4 a, float4 b, COEFFICIENTS c)
{
    float reach = (a.w + b.w) * c.s5;
    return square(b.xyz - a.xyz) < reach * reach;
}

// The acceleration by the planet. Within the planet it does not grow any more.
float3 pull(float3 x, COEFFICIENTS c)
{
    float near = fmax(fmax(sqrt(square(x)), c.s7), 1e-6f);
    float k = -c.s6 / (near * near * near);
    // Products of their own: the difference of two pulls is then the same from both sides of a contact.
    return (float3)(product(x.x, k), product(x.y, k), product(x.z, k));
}

// A body and something that it touches: the direction n from the body to it, the overlap, the relative velocity.
typedef struct {
    float3 n;
    float overlap;
    float3 rel;
} Touch;

// The rounding error a + b − sum, where `sum` is a + b rounded (Knuth, The Art of Computer Programming 2, 4.2.2).
float sum_rest(float a, float b, float sum)
{
    float t = sum - a;
    return (a - (sum - t)) + (b - t);
}

// (reach + rest) − |d|, of which r is |d| rounded. A pile rests on overlaps that are far smaller than the radii, so that
// the rounding of reach and r would count: r is corrected by (|d|² − r²)/2r, with products and sums kept exactly.
float overlap_of(float reach, float rest, float3 d, float r)
{
    float3 p = (float3)(product(d.x, d.x), product(d.y, d.y), product(d.z, d.z));
    float q = product(r, r);
    float a = p.x - q, b = a + p.y, e = b + p.z;
    float lost = sum_rest(p.x, -q, a) + sum_rest(a, p.y, b) + sum_rest(b, p.z, e);
    lost += fma(d.x, d.x, -p.x) + fma(d.y, d.y, -p.y) + fma(d.z, d.z, -p.z) - fma(r, r, -q);
    float beyond = r > 0.0f ? 0.5f * (e + lost) / r : 0.0f;
    return (reach - r) + (rest - beyond);
}

// Body i at (a, va) touches body j at (b, vb). Bodies in the same place are parted along x, the first to the left.
Touch touch_of(uint i, uint j, float4 a, float4 va, float4 b, float4 vb, COEFFICIENTS c)
{
    float3 d = b.xyz - a.xyz;
    float r = sqrt(square(d));
    Touch t;
    t.n = r > 0.0f ? d / r : (float3)(i < j ? 1.0f : -1.0f, 0.0f, 0.0f);
    float both = a.w + b.w, reach = product(both, c.s5);
    t.overlap = overlap_of(reach, fma(both, c.s5, -reach) + sum_rest(a.w, b.w, both) * c.s5, d, r);
    t.rel = va.xyz - vb.xyz;
    return t;
}

// Whether a body touches the planet at the origin, which is there if it has a radius.
bool touches_planet(float4 a, COEFFICIENTS c)
{
    float reach = c.s7 + a.w * c.s5;
    return c.s7 > 0.0f && square(a.xyz) < reach * reach;
}

Touch touch_of_planet(float4 a, float4 va, COEFFICIENTS c)
{
    float r = sqrt(square(a.xyz));
    Touch t;
    t.n = r > 0.0f ? -a.xyz / r : (float3)(-1.0f, 0.0f, 0.0f);
    float radius = product(a.w, c.s5), reach = c.s7 + radius;
    t.overlap = overlap_of(reach, fma(a.w, c.s5, -radius) + sum_rest(c.s7, radius, reach), a.xyz, r);
    t.rel = va.xyz;
    return t;
}

// The masses of two bodies as parts of their sum, so that products of them neither overflow nor underflow. Bodies
// without mass count alike; beside the planet the mass of a body is nothing.
typedef struct {
    float own, other;
} Masses;

Masses masses_of(float own, float other)
{
    float sum = own + other;
    Masses m = { sum > 0.0f ? own / sum : 0.5f, sum > 0.0f ? other / sum : 0.5f };
    return m;
}

// The changes of velocity and position that contacts cause to a body in one step.
typedef struct {
    float3 dv;     // Σ Δv
    float3 dx;     // Σ push
    uint hits;     // others that it hits
    float overlap; // the deepest overlap over its own radius
} Change;

Change no_change(void)
{
    Change s = { (float3)(0.0f), (float3)(0.0f), 0, 0.0f };
    return s;
}

void note_overlap(Change *s, float4 a, float overlap, COEFFICIENTS c)
{
    s->overlap = fmax(s->overlap, overlap / fmax(a.w * c.s5, FLT_MIN));
}

// v ← (v + Σ Δv + a·dt)·decay; x ← x + v·dt + Σ push. `contact` gets (hits in the step, deepest overlap, steps since the
// last hit, bodies met).
void move(Change s, float4 a, float4 va, float met, COEFFICIENTS c, __global float4 *x_out, __global float4 *v_out,
          __global float4 *contact)
{
    float3 v = fma(pull(a.xyz, c), (float3)(c.s0), va.xyz + s.dv) * c.s1;
    float3 x = fma(v, (float3)(c.s0), a.xyz) + s.dx;
    if (all_finite(x) && all_finite(v)) {
        *x_out = (float4)(x, a.w);
        *v_out = (float4)(v, va.w);
    } else {
        *x_out = (float4)(a.xyz, NAN);
        *v_out = (float4)((float3)(NAN), va.w);
    }
    float hits = c.s9 > 0.0f ? contact->x + (float)s.hits : (float)s.hits;
    float age = s.hits > 0 ? 0.0f : contact->z + c.s8;
    *contact = (float4)(hits, s.overlap, age, met);
}

#ifndef MATCH
// ---- The law `simple`: Δv = −m_j/(m_i + m_j)·[(1+e)·u·n + μ·v_t] for each contact in which the bodies approach with u > 0.

// Sums over the contacts of a body under the law `simple`, and the buffers that a step writes.
typedef struct {
    Change change;
    uint met; // bodies in the cells around it, where there are cells
} Contacts;

#define OUTPUT __global float4 *x_out, __global float4 *v_out, __global float4 *contact
#define OUT x_out, v_out, contact

Contacts no_contacts(void)
{
    Contacts s = { no_change(), 0 };
    return s;
}

// One contact, of which the body takes the part `share`: the impulse if they approach, and the push apart.
void bounce(Change *s, Touch t, float share, COEFFICIENTS c)
{
    float u = inner(t.rel, t.n);
    if (u > 0.0f)
        s->dv -= share * ((1.0f + c.s2) * u * t.n + c.s3 * (t.rel - u * t.n));
    s->dx -= (share * c.s4 * t.overlap) * t.n;
}

// Body i at (a, va) touches body j at (b, vb). `at` is where j stands in the arrays.
void meet(Contacts *s, uint n, uint from, uint at, uint i, uint j, float4 a, float4 va, float4 b, float4 vb,
          COEFFICIENTS c, OUTPUT)
{
    Touch t = touch_of(i, j, a, va, b, vb, c);
    bounce(&s->change, t, masses_of(va.w, vb.w).other, c);
    s->change.hits += inner(t.rel, t.n) > 0.0f;
    note_overlap(&s->change, a, t.overlap, c);
}

// The end of the step of body i at (a, va), which stands at `from` in the arrays.
void finish(Contacts s, uint from, uint i, float4 a, float4 va, COEFFICIENTS c, OUTPUT)
{
    if (touches_planet(a, c))
        bounce(&s.change, touch_of_planet(a, va, c), 1.0f, c);
    move(s.change, a, va, (float)s.met, c, &x_out[i], &v_out[i], &contact[i]);
}
#else
// ---- The law `match`. Each body is split into parts whose masses add up to no more than its own; each part has one
// collision, and the parts are joined again, which averages their velocities. Kinetic energy cannot rise by either.

// The largest overlap that is held against gravity, in units of g·dt².
#define CARRIED 50.0f
// A body that is at least this many times heavier than its partner may take part in any number of impacts at once.
#define HEAVIER 16.0f

// Index values for no partner, and for the planet as partner.
#define NOBODY 0xffffffffu
#define PLANET 0xfffffffeu

// A contact as the law `match` classifies it.
typedef struct {
    Touch touch;
    float u;        // speed of approach
    float3 slip;    // relative velocity along the surfaces
    float bounce;   // T0: the change of u that leaves −e·u
    float hold;     // T: the change of u that holds the overlap, too
    float gravity;  // g: the larger acceleration of the two
    float weight;   // f: how much of a rest contact it is
    bool is_impact; // or else a rest contact, which is active if its weight is positive
} Contact;

// `a` is the acceleration relative to the other.
Contact judge(Touch t, float3 a, float g, COEFFICIENTS c)
{
    const float dt = c.s0;
    Contact k;
    k.touch = t;
    k.u = inner(t.rel, t.n);
    float end = fma(inner(a, t.n), dt, k.u);
    float rebound = c.s2 * fmax(k.u, 0.0f);
    k.slip = fma(a, (float3)(dt), t.rel) - end * t.n;
    k.bounce = end + rebound;
    k.hold = end + fmax(rebound, fmin(t.overlap / dt, CARRIED * g * dt));
    k.gravity = g;
    k.is_impact = k.u > 0.0f && k.bounce > 0.0f && k.u * k.u > 10.0f * g * fmax(t.overlap, k.u * dt);
    k.weight = !k.is_impact && k.hold > 0.0f ? fmin(k.hold / (g * dt), 1.0f) : 0.0f;
    return k;
}

Contact contact_of(uint i, uint j, float4 a, float4 va, float4 b, float4 vb, COEFFICIENTS c)
{
    float3 pull_a = pull(a.xyz, c), pull_b = pull(b.xyz, c);
    float g = sqrt(fmax(square(pull_a), square(pull_b)));
    return judge(touch_of(i, j, a, va, b, vb, c), pull_a - pull_b, g, c);
}

Contact contact_of_planet(float4 a, float4 va, COEFFICIENTS c)
{
    float3 pull_a = pull(a.xyz, c);
    return judge(touch_of_planet(a, va, c), pull_a, sqrt(square(pull_a)), c);
}

// Whether `own` is so much lighter than `other` that an impact needs no consent of the other.
bool is_light(float own, float other)
{
    return other > 0.0f && HEAVIER * own <= other;
}

// Counts and sums over the contacts of a body in the first pass.
typedef struct {
    uint touched;   // others that it touches
    uint light;     // L: impacts with much lighter partners
    uint resting;   // N: active rest contacts
    float weight;   // F: the sum of their weights
    uint best;      // where the partner of its best impact stands, NOBODY, or PLANET
    uint number;    // the number of that partner: the smaller one is better among equals
    float fastest;  // the speed of that impact
    bool is_agreed; // whether that impact needs no consent of the partner
    uint met;       // bodies in the cells around it, where there are cells
} Contacts;

// The first pass stores for each body, for the second pass: (best, touched, L and flags, F).
#define FLAG_CROWDED 1u // N > 1
#define FLAG_AGREED 2u  // the best impact needs no consent
#define FLAG_PLANET 4u  // it touches the planet
#define FLAG_BITS 3

#define OUTPUT                                                                                                         \
    __global float4 *x_out, __global float4 *v_out, __global float4 *contact, __global uint4 *roles,                   \
        __global uint *partners
#define OUT x_out, v_out, contact, roles, partners

Contacts no_contacts(void)
{
    Contacts s = { 0, 0, 0, 0.0f, NOBODY, NOBODY, 0.0f, false, 0 };
    return s;
}

// Counts a contact with who stands at `at` and has the number j. Impacts with others that are much lighter only count.
void count_contact(Contacts *s, Contact k, uint at, uint j, bool is_other_light, bool is_own_light)
{
    if (!k.is_impact) {
        s->resting += k.weight > 0.0f;
        s->weight += k.weight;
    } else if (is_other_light) {
        s->light += 1;
    } else if (k.u > s->fastest || (k.u == s->fastest && j < s->number)) {
        s->best = at;
        s->number = j;
        s->fastest = k.u;
        s->is_agreed = is_own_light;
    }
}

// The first pass: body i at (a, va) touches body j at (b, vb). `from` and `at` are where they stand in the arrays.
void meet(Contacts *s, uint n, uint from, uint at, uint i, uint j, float4 a, float4 va, float4 b, float4 vb,
          COEFFICIENTS c, OUTPUT)
{
    Contact k = contact_of(i, j, a, va, b, vb, c);
    count_contact(s, k, at, j, is_light(vb.w, va.w), is_light(va.w, vb.w));
    if (s->touched < PARTNERS)
        partners[(size_t)s->touched * n + from] = at;
    s->touched += 1;
}

// The end of the first pass of body i at (a, va), which stands at `from` in the arrays.
void finish(Contacts s, uint from, uint i, float4 a, float4 va, COEFFICIENTS c, OUTPUT)
{
    uint flags = 0;
    if (touches_planet(a, c)) {
        count_contact(&s, contact_of_planet(a, va, c), PLANET, PLANET, false, true);
        flags |= FLAG_PLANET;
    }
    flags |= s.resting > 1 ? FLAG_CROWDED : 0;
    flags |= s.is_agreed ? FLAG_AGREED : 0;
    roles[from] = (uint4)(s.best, s.touched, s.light << FLAG_BITS | flags, as_uint(s.weight));
    contact[i].w = (float)s.met;
}

// The part of a body in the second pass.
typedef struct {
    uint best;
    float impacts;   // C
    float weight;    // F
    float overlaps;  // M
    bool is_crowded; // N > 1
    bool is_hit;     // an impact of its own acts
} Role;

Role role_of(uint at, __global const uint4 *roles)
{
    const uint4 packed = roles[at];
    const uint light = packed.z >> FLAG_BITS;
    Role r;
    r.best = packed.x;
    r.impacts = (float)light + (r.best != NOBODY ? 1.0f : 0.0f);
    r.weight = as_float(packed.w);
    r.overlaps = (float)packed.y + ((packed.z & FLAG_PLANET) != 0 ? 1.0f : 0.0f);
    r.is_crowded = (packed.z & FLAG_CROWDED) != 0;
    r.is_hit = light > 0 || (packed.z & FLAG_AGREED) != 0;
    if (!r.is_hit && r.best != NOBODY)
        r.is_hit = roles[r.best].x == at;
    return r;
}

// (1/m_i) / (C_i/m_i + C_j/m_j)
float share_of(Masses m, float own, float other)
{
    return m.other / fmax(fma(own, m.other, other * m.own), FLT_MIN);
}

// The second pass: adds the impulse and the push of one contact to the body with the part `own`. Whether it is a hit: an
// impact, or the approach of two that rest on nothing else. Bodies of a pile hit nobody.
bool resolve_contact(Change *s, Contact k, bool acts, Role own, Role other, Masses m, COEFFICIENTS c)
{
    const float step = k.gravity * c.s0 * c.s0;
    const bool is_crowded = own.is_crowded || other.is_crowded;
    const float change = k.is_impact || !is_crowded ? k.bounce : k.hold;
    float share = 0.0f;
    if (acts)
        share = share_of(m, own.impacts, other.impacts);
    else if (k.weight > 0.0f && !own.is_hit && !other.is_hit && change > 0.0f)
        // Each sum of weights has this one in it, unless the two passes round differently.
        share = k.weight * share_of(m, fmax(own.weight, k.weight), fmax(other.weight, k.weight));
    s->dv -= share * (change * k.touch.n + c.s3 * k.slip);
    const float loaded = (k.weight > 0.0f && is_crowded ? CARRIED : 2.0f) * step;
    const float excess = fmax(k.touch.overlap - loaded, 0.0f);
    s->dx -= (share_of(m, own.overlaps, other.overlaps) * c.s4 * excess) * k.touch.n;
    return acts || (share > 0.0f && !is_crowded && k.u > 0.0f);
}

// The contact of body i at (a, va), which stands at `from`, with body j at (b, vb), which stands at `at`.
void resolve_pair(Change *s, Role own, uint from, uint at, uint i, uint j, float4 a, float4 va, float4 b, float4 vb,
                  COEFFICIENTS c, __global const uint4 *roles)
{
    Contact k = contact_of(i, j, a, va, b, vb, c);
    Role other = role_of(at, roles);
    // Each side names the other as its best, but for a side that is much heavier.
    const bool acts = k.is_impact && (own.best == at || is_light(vb.w, va.w)) &&
                      (other.best == from || is_light(va.w, vb.w));
    s->hits += resolve_contact(s, k, acts, own, other, masses_of(va.w, vb.w), c);
    note_overlap(s, a, k.touch.overlap, c);
}

// The end of the second pass of body i at (a, va).
void finish_second(Change s, Role own, uint i, float4 a, float4 va, COEFFICIENTS c, OUTPUT)
{
    if (touches_planet(a, c)) {
        Role planet = { NOBODY, 0.0f, 0.0f, 0.0f, false, false };
        Masses m = { 0.0f, 1.0f };
        resolve_contact(&s, contact_of_planet(a, va, c), own.best == PLANET, own, planet, m, c);
    }
    move(s, a, va, contact[i].w, c, &x_out[i], &v_out[i], &contact[i]);
}

// The second pass of the variants that do not sort: over the partners that the first pass listed, or over all bodies
// where these were too many for the list.
__kernel WHOLE_GROUPS void resolve(const uint n, const COEFFICIENTS c, __global const float4 *x_in,
                                   __global const float4 *v_in, OUTPUT)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const float4 own = x_in[i], own_v = v_in[i];
    const Role role = role_of(i, roles);
    const uint touched = roles[i].y;
    const bool is_listed = touched <= PARTNERS;
    Change s = no_change();
    for (uint nth = 0; nth < (is_listed ? touched : n); ++nth) {
        const uint k = is_listed ? partners[(size_t)nth * n + i] : nth;
        if (is_listed || (k != i && touches(own, x_in[k], c)))
            resolve_pair(&s, role, i, k, i, k, own, own_v, x_in[k], v_in[k], c, roles);
    }
    finish_second(s, role, i, own, own_v, c, OUT);
}
#endif
