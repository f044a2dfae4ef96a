// SPDX-License-Identifier: Apache-2.0
// Reductions through cooperative groups: tiles of a warp, the coalesced group of a branch, and a
// grid-wide sync between two phases.
// Exercises: group code after inlining, redux.sync, activemask, %lanemask_lt, a grid barrier in
// global memory (%envreg, bfi.b64, atom.release, ld.acquire), trap.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

extern "C" __global__ void group_reduce(const int *__restrict__ in, int *__restrict__ out, int n) {
    __shared__ int sums[32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += in[i];
    v = cg::reduce(warp, v, cg::plus<int>());
    if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = v;
    block.sync();
    if (block.thread_rank() == 0) {
        int all = 0;
        for (int w = 0; w < warp.meta_group_size(); ++w) all += sums[w];
        atomicAdd(out, all);
    }
}

// Keeps the positive elements, in no fixed order; one atomic for each group of takers.
extern "C" __global__ void group_filter(const float *__restrict__ in, float *__restrict__ out,
                                        int *count, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0.0f) {
        cg::coalesced_group takers = cg::coalesced_threads();
        int base = 0;
        if (takers.thread_rank() == 0) base = atomicAdd(count, static_cast<int>(takers.size()));
        out[takers.shfl(base, 0) + takers.thread_rank()] = in[i];
    }
}

extern "C" __global__ void grid_phases(float *data, float *total, int n) {
    cg::grid_group grid = cg::this_grid();
    for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size())
        atomicAdd(total, data[i]);
    grid.sync();
    const float inverse = 1.0f / *static_cast<volatile float *>(total);
    for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) data[i] *= inverse;
}
