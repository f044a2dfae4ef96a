// SPDX-License-Identifier: Apache-2.0
// Sum of an array: shuffles inside a warp, shared memory between warps, one atomic a block.
// blockDim.x is a multiple of 32.
// Exercises: shfl.sync.down with a predicate output, bar.sync, a divergent tail,
// atom.global.add.f32 whose result is dropped.

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

extern "C" __global__ void block_sum(const float *__restrict__ in, float *__restrict__ total,
                                     int n) {
    __shared__ float partial[32];
    float v = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += in[i];

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_sum(v);
    if (lane == 0) partial[warp] = v;
    __syncthreads();

    if (warp == 0) {
        const int warps = (blockDim.x + 31) / 32;
        v = warp_sum(lane < warps ? partial[lane] : 0.0f);
        if (lane == 0) atomicAdd(total, v);
    }
}
