// SPDX-License-Identifier: Apache-2.0
// Two roles in one block: a producer warp group gives registers back and feeds tiles; two
// consumer warp groups take more registers and sum them. Named barriers hand tiles over.
// Target: sm_90a.
// Exercises: setmaxnreg, barrier.sync / barrier.arrive with ids and counts, divergent roles.

constexpr int kTile = 512;

__device__ __forceinline__ void meet(int id) {
    asm volatile("barrier.sync %0, 384;" ::"r"(id) : "memory");
}

__device__ __forceinline__ void signal(int id) {
    asm volatile("barrier.arrive %0, 384;" ::"r"(id) : "memory");
}

// 384 threads: group 0 loads, groups 1 and 2 compute. Barriers 1, 2: full; 3, 4: empty.
extern "C" __global__ void __launch_bounds__(384, 1)
warp_specialized(const float *__restrict__ in, float *__restrict__ out, int tiles) {
    __shared__ __align__(16) float ring[2][kTile];
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        for (int t = 0; t < tiles; ++t) {
            const int slot = t & 1;
            if (t >= 2) meet(3 + slot);
            const float4 *from = reinterpret_cast<const float4 *>(in + (size_t)t * kTile);
            reinterpret_cast<float4 *>(ring[slot])[threadIdx.x] = from[threadIdx.x];
            signal(1 + slot);
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const int lane = threadIdx.x - 128;
        float sum = 0.0f;
        for (int t = 0; t < tiles; ++t) {
            const int slot = t & 1;
            meet(1 + slot);
#pragma unroll
            for (int j = 0; j < kTile / 256; ++j) sum += ring[slot][j * 256 + lane];
            if (t + 2 < tiles) signal(3 + slot);
        }
        out[lane] = sum;
    }
}
