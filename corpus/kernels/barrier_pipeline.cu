// SPDX-License-Identifier: Apache-2.0
// cuda::barrier and cp.async together: each tile's arrival is counted by an mbarrier.
// Exercises: mbarrier.init / arrive / test_wait, cp.async.mbarrier.arrive, C++ objects in shared
// memory, a wait loop that backs off with nanosleep.
#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int kFloats = 1024;

#pragma nv_diag_suppress static_var_with_dynamic_init

// in and out hold tiles * 1024 floats; 256 threads a block.
extern "C" __global__ void __launch_bounds__(256)
barrier_pipeline(const float *__restrict__ in, float *__restrict__ out, int tiles) {
    __shared__ __align__(16) float tile[2][kFloats];
    __shared__ Barrier ready[2];
    if (threadIdx.x < 2) init(&ready[threadIdx.x], blockDim.x);
    __syncthreads();

    // Slots follow the count of tiles that this block has done, not the tile's own number.
    auto fetch = [&](int slot, int t) {
        cuda::memcpy_async(&tile[slot][threadIdx.x * 4], in + (size_t)t * kFloats + threadIdx.x * 4,
                           cuda::aligned_size_t<16>(16), ready[slot]);
    };
    int slot = 0;
    if (blockIdx.x < tiles) fetch(slot, blockIdx.x);
    for (int t = blockIdx.x; t < tiles; t += gridDim.x, slot ^= 1) {
        if (t + gridDim.x < tiles) fetch(slot ^ 1, t + gridDim.x);
        ready[slot].arrive_and_wait();
        for (int i = threadIdx.x; i < kFloats; i += blockDim.x)
            out[(size_t)t * kFloats + i] = tile[slot][i] + tile[slot][kFloats - 1 - i];
        __syncthreads();  // the slot may be filled again from here on
    }
}
