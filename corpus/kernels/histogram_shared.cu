// SPDX-License-Identifier: Apache-2.0
// 256-bin byte histogram: counts in shared memory, then one global atomic a bin.
// Exercises: atom.shared.add, byte extraction, strided loops, atom.global max / inc / cas / exch
// and a 64-bit add.

extern "C" __global__ void histogram_shared(const unsigned *__restrict__ words,
                                            unsigned *__restrict__ bins, int count) {
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned w = words[i];
        atomicAdd(&local[w & 0xff], 1u);
        atomicAdd(&local[(w >> 8) & 0xff], 1u);
        atomicAdd(&local[(w >> 16) & 0xff], 1u);
        atomicAdd(&local[w >> 24], 1u);
    }
    __syncthreads();

    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (local[b] != 0) atomicAdd(&bins[b], local[b]);
}

// The largest value seen and how often the count went past a limit, with other atomic forms.
extern "C" __global__ void histogram_extremes(const unsigned *__restrict__ bins,
                                              unsigned *__restrict__ top,
                                              unsigned *__restrict__ slots,
                                              unsigned long long *__restrict__ sum,
                                              unsigned limit) {
    const unsigned v = bins[threadIdx.x];
    atomicMax(top, v);
    atomicInc(slots, limit);
    unsigned old = slots[1], seen;
    do {
        seen = old;
        old = atomicCAS(&slots[1], seen, seen < v ? v : seen);
    } while (old != seen);
    atomicExch(&slots[2], v);
    atomicAdd(sum, static_cast<unsigned long long>(v));
}
