// SPDX-License-Identifier: Apache-2.0
// Warp-wide questions: votes, matches, reductions, and a compaction built on ballots.
// Exercises: vote.sync.ballot/all/any/uni, match.any/all.sync, redux.sync, activemask,
// %lanemask_lt, popc, fns, bfind, a result with a predicate beside it.

extern "C" __global__ void warp_compact(const int *__restrict__ in, int *__restrict__ out,
                                        int *__restrict__ counts) {
    const int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int v = in[warp * 32 + lane];
    const unsigned keep = __ballot_sync(0xffffffffu, v > 0);
    unsigned below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    if (v > 0) out[warp * 32 + __popc(keep & below)] = v;
    if (lane == 0) counts[warp] = __popc(keep);
}

// Adds up values of equal keys: one atomic for each distinct key in the warp.
extern "C" __global__ void warp_by_key(const int *__restrict__ keys, const int *__restrict__ values,
                                       int *__restrict__ table) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned peers = __match_any_sync(0xffffffffu, keys[i]);
    const int sum = __reduce_add_sync(peers, values[i]);
    if (__ffs(peers) - 1 == threadIdx.x % 32) atomicAdd(&table[keys[i]], sum);
}

extern "C" __global__ void warp_facts(const unsigned *__restrict__ in, unsigned *__restrict__ out) {
    const unsigned v = in[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned facts = 0;
    if (__all_sync(0xffffffffu, v != 0)) facts |= 1;
    if (__any_sync(0xffffffffu, v > 1000)) facts |= 2;
    if (__uni_sync(0xffffffffu, v & 1)) facts |= 4;
    int same = 0;
    const unsigned all = __match_all_sync(0xffffffffu, v >> 4, &same);
    if (same) facts |= 8;
    const unsigned low = __reduce_min_sync(0xffffffffu, v);
    const unsigned high = __reduce_max_sync(0xffffffffu, v);
    const unsigned any = __reduce_or_sync(0xffffffffu, v), both = __reduce_and_sync(0xffffffffu, v);
    unsigned active = 0;
    if (v & 2) active = __activemask();
    const unsigned top = 31 - __clz(any | 1);
    const unsigned third = __fns(any, 0, 3);
    out[blockIdx.x * blockDim.x + threadIdx.x] =
        facts ^ all ^ low ^ (high << 4) ^ both ^ active ^ (top << 8) ^ third;
}
