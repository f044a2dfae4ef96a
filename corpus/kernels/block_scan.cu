// SPDX-License-Identifier: Apache-2.0
// Inclusive prefix sum of one block's elements (up to 1024), warp scans joined by a scan of sums.
// blockDim.x is a multiple of 32.
// Exercises: shfl.sync.up, predicated adds, two barriers, shared memory read after write.

__device__ __forceinline__ int warp_scan(int v, int lane) {
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const int below = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += below;
    }
    return v;
}

extern "C" __global__ void __launch_bounds__(1024)
block_scan(const int *__restrict__ in, int *__restrict__ out, int *__restrict__ block_totals,
           int n) {
    __shared__ int warp_totals[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int warps = blockDim.x >> 5;

    const int sum = warp_scan(i < n ? in[i] : 0, lane);
    if (lane == 31) warp_totals[warp] = sum;
    __syncthreads();

    if (warp == 0) {
        const int scanned = warp_scan(lane < warps ? warp_totals[lane] : 0, lane);
        warp_totals[lane] = scanned;
    }
    __syncthreads();

    const int before = warp > 0 ? warp_totals[warp - 1] : 0;
    if (i < n) out[i] = sum + before;
    if (threadIdx.x == 0) block_totals[blockIdx.x] = warp_totals[warps - 1];
}
