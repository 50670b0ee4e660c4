// Functions that exchange values among the 32 work-items (lanes) of a warp. With NVIDIA's compiler, they use special
// instructions. With other compilers, they use `scratch`, local memory of one word per work-item, and every work-item
// of the work-group must call them.

#define WARP 32
#define LOCAL CLK_LOCAL_MEM_FENCE

#ifdef __NV_CL_C_VERSION
// Returns the argument `value` of the given lane of the warp.
uint shuffle_(uint value, uint lane, __local uint *scratch)
{
    uint result;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(value), "r"(lane));
    return result;
}

// Returns one bit per lane of the warp: 1 where the condition holds.
uint ballot(bool condition, __local uint *scratch)
{
    uint result;
    __asm__ volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                     : "=r"(result)
                     : "r"((int)condition));
    return result;
}

// Waits for all lanes of the warp, and makes their writes to local memory visible to each other.
void sync_warp(void)
{
    __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}
#else
uint shuffle_(uint value, uint lane, __local uint *scratch)
{
    const uint own = get_local_id(0);
    barrier(LOCAL);
    scratch[own] = value;
    barrier(LOCAL);
    return scratch[(own & ~(WARP - 1)) + (lane & (WARP - 1))];
}

uint ballot(bool condition, __local uint *scratch)
{
    const uint own = get_local_id(0), first = own & ~(WARP - 1);
    barrier(LOCAL);
    scratch[own] = condition ? 1u << (own & (WARP - 1)) : 0u;
    barrier(LOCAL);
    uint bits = 0;
    for (uint k = 0; k < WARP; ++k)
        bits |= scratch[first + k];
    return bits;
}

void sync_warp(void)
{
    barrier(LOCAL);
}
#endif

float shuffle_float(float value, uint lane, __local uint *scratch)
{
    return as_float(shuffle_(as_uint(value), lane, scratch));
}

// Returns the inclusive prefix sum: the sum of the values of this lane and of all lanes before it.
uint scan_warp(uint value, uint lane, __local uint *scratch)
{
    for (uint step = 1; step < WARP; step *= 2) {
        const uint other = shuffle_(value, lane - step, scratch);
        value += lane >= step ? other : 0;
    }
    return value;
}

// Returns the exclusive prefix sum: the sum of the values of all earlier work-items of the work-group. Sets `total` to
// the sum of all values. `sums` has room for one word per warp.
uint scan_group(uint value, __local uint *sums, uint *total, __local uint *scratch)
{
    const uint own = get_local_id(0), lane = own % WARP, warp = own / WARP;
    const uint with = scan_warp(value, lane, scratch);
    barrier(LOCAL);
    if (lane == WARP - 1)
        sums[warp] = with;
    barrier(LOCAL);
    uint before = 0, all = 0;
    for (uint k = 0; k < get_local_size(0) / WARP; ++k) {
        before = k == warp ? all : before;
        all += sums[k];
    }
    *total = all;
    return before + with - value;
}
