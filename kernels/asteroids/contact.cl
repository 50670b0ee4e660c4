// The contact law, and the completion of a step. All variants share this file; they differ only in how they find
// touching pairs.
//
// On the device, a body consists of x = (x, y, z, ρ) and v = (vx, vy, vz, m); its radius is ρ times the parameter
// `radius`. A body that is excluded because of non-finite values has ρ = NaN, so that it touches no body.
//
// There are two laws. With `simple`, a step is one pass: every body adds the whole impulse of each of its contacts.
// With `match` (the macro MATCH), a step is two passes: the first classifies and counts the contacts of every body and
// lists the partners; the second divides the impulse of a contact by the counts of both bodies. A variant calls `meet`
// for each touching pair and `finish` at the end, under both laws.

// Coefficients c = (dt, decay, restitution, friction, push, radius, G · planet's mass, planet's radius, substep's share
// of the step, 0 in the first substep of a step and 1 in the others, …). dt is the length of a substep; decay is 1 in
// all substeps but the last.
#define COEFFICIENTS float16

// Returns the inner product of two vectors. Explicit fma makes every variant, and both bodies of a pair, round
// identically.
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

// Returns the acceleration due to the planet's gravity. Inside the planet, it grows in proportion to the distance from
// the centre.
float3 pull(float3 x, COEFFICIENTS c)
{
    float near = fmax(fmax(sqrt(square(x)), c.s7), 1e-6f);
    float k = -c.s6 / (near * near * near);
    // Rounds each product separately, so that both bodies of a contact compute the same difference of their
    // accelerations.
    return (float3)(product(x.x, k), product(x.y, k), product(x.z, k));
}

// The geometry of a contact of a body with another body or the planet: the direction n from the body to the partner,
// the overlap, and the velocity relative to the partner.
typedef struct {
    float3 n;
    float overlap;
    float3 rel;
} Touch;

// Returns the rounding error a + b − sum, where `sum` is a + b rounded (Knuth, The Art of Computer Programming 2,
// 4.2.2).
float sum_rest(float a, float b, float sum)
{
    float t = sum - a;
    return (a - (sum - t)) + (b - t);
}

// Returns (reach + rest) − |d|, where r is |d| rounded. A pile rests on overlaps that are far smaller than the radii,
// so the rounding errors of reach and r matter: r is corrected by (|d|² − r²)/2r, from exact products and sums.
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

// Describes the contact of body i at (a, va) with body j at (b, vb). Bodies at the same position are separated along x,
// the one with the smaller number to the left.
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

// Returns whether a body touches the planet at the origin. A planet of radius 0 has no surface to touch.
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

// The masses of two bodies as shares of their sum, so that their products neither overflow nor underflow. Two bodies
// without mass have equal shares; in a contact with the planet the body's share is 0.
typedef struct {
    float own, other;
} Masses;

Masses masses_of(float own, float other)
{
    float sum = own + other;
    Masses m = { sum > 0.0f ? own / sum : 0.5f, sum > 0.0f ? other / sum : 0.5f };
    return m;
}

// The changes of a body's velocity and position due to its contacts in one substep.
typedef struct {
    float3 dv;     // Σ Δv
    float3 dx;     // Σ push
    uint hits;     // number of bodies that the body hits
    float overlap; // the deepest overlap, in units of the body's radius
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

// Moves a body: v ← (v + Σ Δv + a·dt)·decay; x ← x + v·dt + Σ push. Writes to `contact` the number of hits in the step,
// the deepest overlap, the number of steps since the last hit, and `met`, the number of bodies in the cells around the
// body.
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
// ---- The law `simple`: each contact whose bodies approach (u > 0) adds Δv = −m_j/(m_i + m_j)·[(1+e)·u·n + μ·v_t].

// Sums over the contacts of a body under the law `simple`, and the buffers that a step writes.
typedef struct {
    Change change;
    uint met; // number of bodies in the cells around the body, in variants with cells
} Contacts;

#define OUTPUT __global float4 *x_out, __global float4 *v_out, __global float4 *contact
#define OUT x_out, v_out, contact

Contacts no_contacts(void)
{
    Contacts s = { no_change(), 0 };
    return s;
}

// Adds the effect of one contact on a body: the fraction `share` of the impulse, if the partners approach each other,
// and of the push that separates them.
void bounce(Change *s, Touch t, float share, COEFFICIENTS c)
{
    float u = inner(t.rel, t.n);
    if (u > 0.0f)
        s->dv -= share * ((1.0f + c.s2) * u * t.n + c.s3 * (t.rel - u * t.n));
    s->dx -= (share * c.s4 * t.overlap) * t.n;
}

// Adds the contact of body i at (a, va) with body j at (b, vb). `from` and `at` are their indices in the arrays.
void meet(Contacts *s, uint n, uint from, uint at, uint i, uint j, float4 a, float4 va, float4 b, float4 vb,
          COEFFICIENTS c, OUTPUT)
{
    Touch t = touch_of(i, j, a, va, b, vb, c);
    bounce(&s->change, t, masses_of(va.w, vb.w).other, c);
    s->change.hits += inner(t.rel, t.n) > 0.0f;
    note_overlap(&s->change, a, t.overlap, c);
}

// Completes the substep of body i at (a, va), whose index in the arrays is `from`.
void finish(Contacts s, uint from, uint i, float4 a, float4 va, COEFFICIENTS c, OUTPUT)
{
    if (touches_planet(a, c))
        bounce(&s.change, touch_of_planet(a, va, c), 1.0f, c);
    move(s.change, a, va, (float)s.met, c, &x_out[i], &v_out[i], &contact[i]);
}
#else
// ---- The law `match`. Each body is split into parts, whose masses add up to at most the body's mass. Each part takes
// part in one collision. Then the parts are joined again, which averages their velocities. Neither the collisions nor
// the joining can raise the kinetic energy.

// The largest overlap that a resting contact keeps to carry the bodies that lie on top, in units of g·dt².
#define CARRIED 50.0f
// A body that is at least this many times heavier than its partner may take part in any number of impacts at once.
#define HEAVIER 16.0f

// Partner indices with a special meaning: no partner, and the planet.
#define NOBODY 0xffffffffu
#define PLANET 0xfffffffeu

// A contact as the law `match` classifies it.
typedef struct {
    Touch touch;
    float u;        // speed of approach
    float3 slip;    // relative velocity along the surfaces
    float bounce;   // T0: the amount to subtract from the speed of approach so that it is −e·u after the step
    float hold;     // T: like T0, and also large enough to reduce the overlap
    float gravity;  // g: the larger of the two bodies' accelerations
    float weight;   // f: the weight of a resting contact, from 0 to 1; 0 for an impact
    bool is_impact; // false for a resting contact, which is active if its weight is positive
} Contact;

// Classifies the contact `t`. `a` is the body's acceleration relative to its partner, g the larger acceleration.
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

// Returns whether the mass `own` is so much smaller than `other` that an impact between the bodies acts even if it is
// not the best (fastest) impact of the heavier body.
bool is_light(float own, float other)
{
    return other > 0.0f && HEAVIER * own <= other;
}

// Counts and sums over a body's contacts, from the first pass of the law `match`.
typedef struct {
    uint touched;   // number of bodies that the body touches
    uint light;     // L: number of impacts with much lighter partners
    uint resting;   // N: number of active resting contacts
    float weight;   // F: sum of the weights of the active resting contacts
    uint best;      // index in the arrays of the best (fastest) impact's partner, NOBODY, or PLANET
    uint number;    // body number of the best impact's partner; among equally fast impacts, the smallest number wins
    float fastest;  // speed of approach of the best impact
    bool is_agreed; // whether the best impact acts even if it is not the partner's best
    uint met;       // number of bodies in the cells around the body, in variants with cells
} Contacts;

// For each body, the first pass stores (best, touched, L and flags, F) for the second pass. These are the flags.
#define FLAG_CROWDED 1u // the body has more than one active resting contact (N > 1)
#define FLAG_AGREED 2u  // the best impact acts even if it is not the partner's best
#define FLAG_PLANET 4u  // the body touches the planet
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

// Adds a contact with body j, whose index in the arrays is `at`, to a body's counts. An impact with a much lighter
// partner is only counted; it never becomes the best impact.
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

// First pass: adds the contact of body i at (a, va) with body j at (b, vb). `from` and `at` are their indices in the
// arrays.
void meet(Contacts *s, uint n, uint from, uint at, uint i, uint j, float4 a, float4 va, float4 b, float4 vb,
          COEFFICIENTS c, OUTPUT)
{
    Contact k = contact_of(i, j, a, va, b, vb, c);
    count_contact(s, k, at, j, is_light(vb.w, va.w), is_light(va.w, vb.w));
    if (s->touched < PARTNERS)
        partners[(size_t)s->touched * n + from] = at;
    s->touched += 1;
}

// Completes the first pass for body i at (a, va), whose index in the arrays is `from`.
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

// The results of the first pass for a body, decoded for the second pass.
typedef struct {
    uint best;
    float impacts;   // C: number of impacts that can act on the body
    float weight;    // F: sum of the weights of the active resting contacts
    float overlaps;  // M: number of contacts
    bool is_crowded; // whether the body has more than one active resting contact (N > 1)
    bool is_hit;     // whether an impact acts on the body
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

// Returns the share of a contact's effect that acts on body i: (1/m_i) / (C_i/m_i + C_j/m_j) for the counts `own` = C_i
// and `other` = C_j of the two bodies.
float share_of(Masses m, float own, float other)
{
    return m.other / fmax(fma(own, m.other, other * m.own), FLT_MIN);
}

// Second pass: adds the impulse and the push of one contact to the body with the role `own`. Returns whether the
// contact counts as a hit: an impact that acts, or an approach of two bodies that have no other active resting contact.
// Contacts within a pile are not hits.
bool resolve_contact(Change *s, Contact k, bool acts, Role own, Role other, Masses m, COEFFICIENTS c)
{
    const float step = k.gravity * c.s0 * c.s0;
    const bool is_crowded = own.is_crowded || other.is_crowded;
    const float change = k.is_impact || !is_crowded ? k.bounce : k.hold;
    float share = 0.0f;
    if (acts)
        share = share_of(m, own.impacts, other.impacts);
    else if (k.weight > 0.0f && !own.is_hit && !other.is_hit && change > 0.0f)
        // Each sum of weights includes this contact's weight, unless the two passes round differently.
        share = k.weight * share_of(m, fmax(own.weight, k.weight), fmax(other.weight, k.weight));
    s->dv -= share * (change * k.touch.n + c.s3 * k.slip);
    const float loaded = (k.weight > 0.0f && is_crowded ? CARRIED : 2.0f) * step;
    const float excess = fmax(k.touch.overlap - loaded, 0.0f);
    s->dx -= (share_of(m, own.overlaps, other.overlaps) * c.s4 * excess) * k.touch.n;
    return acts || (share > 0.0f && !is_crowded && k.u > 0.0f);
}

// Resolves the contact of body i at (a, va) with body j at (b, vb). `from` and `at` are their indices in the arrays.
void resolve_pair(Change *s, Role own, uint from, uint at, uint i, uint j, float4 a, float4 va, float4 b, float4 vb,
                  COEFFICIENTS c, __global const uint4 *roles)
{
    Contact k = contact_of(i, j, a, va, b, vb, c);
    Role other = role_of(at, roles);
    // An impact acts if it is the best impact of both bodies. For a body that is much heavier, it need not be the best.
    const bool acts = k.is_impact && (own.best == at || is_light(vb.w, va.w)) &&
                      (other.best == from || is_light(va.w, vb.w));
    s->hits += resolve_contact(s, k, acts, own, other, masses_of(va.w, vb.w), c);
    note_overlap(s, a, k.touch.overlap, c);
}

// Completes the second pass, and with it the substep, for body i at (a, va).
void finish_second(Change s, Role own, uint i, float4 a, float4 va, COEFFICIENTS c, OUTPUT)
{
    if (touches_planet(a, c)) {
        Role planet = { NOBODY, 0.0f, 0.0f, 0.0f, false, false };
        Masses m = { 0.0f, 1.0f };
        resolve_contact(&s, contact_of_planet(a, va, c), own.best == PLANET, own, planet, m, c);
    }
    move(s, a, va, contact[i].w, c, &x_out[i], &v_out[i], &contact[i]);
}

// Second pass of the variants that do not sort the bodies. Visits the partners that the first pass listed, or all
// bodies if the partners were too many for the list.
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
