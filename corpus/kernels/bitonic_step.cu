// SPDX-License-Identifier: Apache-2.0
// Bitonic sort: one global compare-and-swap step, and a whole sort of 1024 keys in shared memory.
// Exercises: xor partners, min/max/selp, barriers in nested loops, key and payload together.

extern "C" __global__ void bitonic_step(unsigned *__restrict__ keys, unsigned *__restrict__ values,
                                        unsigned distance, unsigned run) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned j = i ^ distance;
    if (j <= i) return;
    const unsigned a = keys[i], b = keys[j];
    const bool up = (i & run) == 0;
    if ((a > b) == up && a != b) {
        keys[i] = b;
        keys[j] = a;
        const unsigned v = values[i];
        values[i] = values[j];
        values[j] = v;
    }
}

extern "C" __global__ void __launch_bounds__(512) bitonic_block(int *__restrict__ keys) {
    __shared__ int k[1024];
    keys += blockIdx.x * 1024;
    k[threadIdx.x] = keys[threadIdx.x];
    k[threadIdx.x + 512] = keys[threadIdx.x + 512];
    for (unsigned run = 2; run <= 1024; run *= 2) {
        for (unsigned d = run / 2; d > 0; d /= 2) {
            __syncthreads();
            const unsigned i = 2 * threadIdx.x - (threadIdx.x & (d - 1));
            const int a = k[i], b = k[i + d];
            const int low = min(a, b), high = max(a, b);
            const bool up = (i & run) == 0;
            k[i] = up ? low : high;
            k[i + d] = up ? high : low;
        }
    }
    __syncthreads();
    keys[threadIdx.x] = k[threadIdx.x];
    keys[threadIdx.x + 512] = k[threadIdx.x + 512];
}
