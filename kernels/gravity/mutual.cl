// Newton's third law: each pair is evaluated once, and its force is applied to both bodies. This costs little more than
// the force on one body.
//
// The bodies are divided into blocks arranged in a ring; the pairs of two blocks form a tile. On GPUs a work-group
// computes a tile: its work-items hold K bodies each and visit the other bodies in turn, and no two work-items visit
// the same body at once. On CPUs one work-item computes a tile and holds K vectors of bodies. The force of one block on
// another is stored in a slot; each block has two slots per distance around the ring. So tiles whose distances differ
// by less than `depth` may run at the same time. The kernel `advance` sums the slots.
#if LANES > 1
#define TEAMS WORK_GROUP
#define TEAM 1
#define TEAM_ID get_local_id(0)
#define WAIT
#else
#define TEAMS 1
#define TEAM WORK_GROUP
#define TEAM_ID 0
#define WAIT barrier(CLK_LOCAL_MEM_FENCE);
#endif
// Number of bodies that the work-items of one tile hold at once.
#define OWN (TEAM * LANES * K)
// Number of other bodies that local memory holds at once.
#define TILE ((128 + TEAM - 1) / TEAM * TEAM)

#if LANES == 16
#define load(p) vload16(0, p)
#define store(v, p) vstore16(v, 0, p)
#define total(v) dot(v.lo.lo + v.lo.hi + v.hi.lo + v.hi.hi, (float4)(1.0f))
#elif LANES == 8
#define load(p) vload8(0, p)
#define store(v, p) vstore8(v, 0, p)
#define total(v) dot(v.lo + v.hi, (float4)(1.0f))
#else
#define load(p) (*(p))
#define store(v, p) (*(p) = (v))
#define total(v) (v)
#endif

typedef struct {
    wide x, y, z;
} Pulls;

// Adds the forces between LANES own bodies of masses `m` and another body, both to the sums of the own bodies and to
// `caused`, the force on the other body. Both forces use the same 1/r³, which therefore contains no mass: distances are
// in UNIT, and masses in a unit that the host chooses so that products stay finite.
void meet(Columns *own, wide m, float4 other, Pulls *caused, float eps2)
{
    const wide dx = other.x - own->x;
    const wide dy = other.y - own->y;
    const wide dz = other.z - own->z;
    const wide f = pull(1.0f, softened(dx, dy, dz, eps2));
    const wide to = other.w * f;
    const wide back = m * f;
    own->ax += dx * to;
    own->ay += dy * to;
    own->az += dz * to;
    caused->x -= dx * back;
    caused->y -= dy * back;
    caused->z -= dz * back;
}

// Writes the bodies as columns of `length`, with positions in UNIT and masses multiplied by `per_mass`, padded with
// bodies without effect.
__kernel void spread(const uint n, const uint length, const float per_mass, __global const float4 *x_in,
                     __global float *places)
{
    const uint i = get_global_id(0);
    if (i >= length)
        return;
    const float4 body = i < n ? x_in[i] : (float4)(0.0f);
    places[i] = body.x * UNIT;
    places[length + i] = body.y * UNIT;
    places[2 * length + i] = body.z * UNIT;
    places[3 * length + i] = body.w * per_mass;
}

// Evaluates the tiles with numbers below `end`. Tiles are numbered by the distance of their blocks around the ring, and
// for equal distances by their first block.
__kernel WHOLE_GROUPS void meet_blocks(const uint length, const uint side, const uint depth,
                                       const uint end, const float eps2, __global const float *places,
                                       __global float *slots)
{
    __local float4 others[TEAMS][TILE];
    __local Pulls pulls[TEAMS][TILE];
    const uint lane = get_local_id(0) % TEAM;
    const uint tile = get_global_id(0) / TEAM;
#if TEAM == 1
    // The last work-group may contain work-items without a tile.
    if (tile >= end)
        return;
#endif
    const uint blocks = length / side;
    const uint distance = tile / blocks;
    const uint row = tile % blocks;
    const uint column = (row + distance) % blocks;
    const float soft2 = eps2 * UNIT * UNIT;
    __global float *slot = slots + 6 * length * (size_t)(distance % depth);
    for (uint start = 0; start < side; start += TILE) {
        const uint count = min((uint)TILE, side - start);
        __global const float *there = places + column * side + start;
        for (uint j = lane; j < count; j += TEAM) {
            const Pulls none = { 0.0f, 0.0f, 0.0f };
            others[TEAM_ID][j] = (float4)(there[j], there[length + j], there[2 * length + j], there[3 * length + j]);
            pulls[TEAM_ID][j] = none;
        }
        // Needs no barrier before the first pairs, since each work-item starts with the bodies that it loaded itself.
        for (uint i = row * side + lane * LANES; i < (row + 1) * side; i += OWN) {
            Columns own[K];
            wide mass[K];
#pragma unroll
            for (uint k = 0; k < K; ++k) {
                const uint at = i + k * TEAM * LANES;
                const Columns fresh = { load(places + at), load(places + length + at),
                                        load(places + 2 * length + at), 0.0f, 0.0f, 0.0f };
                own[k] = fresh;
                mass[k] = load(places + 3 * length + at);
            }
            for (uint first = 0; first < count; first += TEAM) {
                uint j = first + lane;
                for (uint turn = 0; turn < TEAM; ++turn) {
                    const float4 other = others[TEAM_ID][j];
                    Pulls caused = pulls[TEAM_ID][j];
#pragma unroll
                    for (uint k = 0; k < K; ++k)
                        meet(&own[k], mass[k], other, &caused, soft2);
                    pulls[TEAM_ID][j] = caused;
                    j = j + 1 < first + TEAM ? j + 1 : first;
                    WAIT
                }
            }
#pragma unroll
            for (uint k = 0; k < K; ++k) {
                __global float *felt = slot + i + k * TEAM * LANES;
                if (start > 0 || distance >= depth) {
                    own[k].ax += load(felt);
                    own[k].ay += load(felt + length);
                    own[k].az += load(felt + 2 * length);
                }
                store(own[k].ax, felt);
                store(own[k].ay, felt + length);
                store(own[k].az, felt + 2 * length);
            }
        }
        for (uint j = lane; j < count; j += TEAM) {
            __global float *felt = slot + 3 * length + column * side + start + j;
            const Pulls all = pulls[TEAM_ID][j];
            float3 sum = (float3)(total(all.x), total(all.y), total(all.z));
            // The tile of a block with itself contains each pair twice, so the forces on the own bodies are already
            // complete.
            if (distance == 0)
                sum = 0.0f;
            if (distance >= depth)
                sum += (float3)(felt[0], felt[length], felt[2 * length]);
            felt[0] = sum.x;
            felt[length] = sum.y;
            felt[2 * length] = sum.z;
        }
    }
}

__kernel void advance(const uint n, const uint length, const uint depth, const COEFFICIENTS c,
                      __global const float *slots, __global const float4 *x_in, __global float4 *x_out,
                      __global float4 *v, __global float4 *a)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    float3 sum = 0.0f;
    for (uint s = 0; s < 2 * depth; ++s) {
        __global const float *felt = slots + 3 * length * (size_t)s + i;
        sum += (float3)(felt[0], felt[length], felt[2 * length]);
    }
    end_pass(gravity(sum, c) * UNIT_SUM, a[i], i, n, c, x_in, x_out, v, a);
}
