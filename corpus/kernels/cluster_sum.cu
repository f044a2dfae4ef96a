// SPDX-License-Identifier: Apache-2.0
// Sum over a cluster of four blocks through distributed shared memory, once with cooperative
// groups and once with inline asm. Target: sm_90a.
// Exercises: .explicitcluster and .reqnctapercluster, barrier.cluster.arrive / wait, mapa,
// ld.shared::cluster.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ __forceinline__ float block_sum(float v, float *scratch) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    float all = 0.0f;
    for (int w = 0; w < blockDim.x / 32; ++w) all += scratch[w];
    return all;
}

extern "C" __global__ void __cluster_dims__(4, 1, 1)
cluster_sum(const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float scratch[32];
    __shared__ float mine;
    cg::cluster_group cluster = cg::this_cluster();
    const float sum = block_sum(in[(size_t)blockIdx.x * blockDim.x + threadIdx.x], scratch);
    if (threadIdx.x == 0) mine = sum;
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        float all = 0.0f;
        for (unsigned r = 0; r < cluster.num_blocks(); ++r)
            all += *cluster.map_shared_rank(&mine, r);
        out[blockIdx.x / cluster.num_blocks()] = all;
    }
    cluster.sync();  // nobody leaves while its shared memory may still be read
}

extern "C" __global__ void __cluster_dims__(4, 1, 1)
cluster_sum_asm(const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float scratch[32];
    __shared__ float mine;
    const float sum = block_sum(in[(size_t)blockIdx.x * blockDim.x + threadIdx.x], scratch);
    if (threadIdx.x == 0) mine = sum;
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (rank == 0 && threadIdx.x < 4) {
        const unsigned local = static_cast<unsigned>(__cvta_generic_to_shared(&mine));
        float v;
        asm volatile(
            "{\n\t.reg .b32 remote;\n\t"
            "mapa.shared::cluster.u32 remote, %1, %2;\n\t"
            "ld.shared::cluster.f32 %0, [remote];\n\t}"
            : "=f"(v)
            : "r"(local), "r"(threadIdx.x)
            : "memory");
        v += __shfl_xor_sync(0xfu, v, 1);
        v += __shfl_xor_sync(0xfu, v, 2);
        if (threadIdx.x == 0) out[blockIdx.x / 4] = v;
    }
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
