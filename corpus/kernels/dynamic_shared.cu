// SPDX-License-Identifier: Apache-2.0
// One dynamic shared buffer split by hand into three arrays of different types.
// Exercises: extern .shared with alignment, offsets computed from parameters, byte and double
// accesses in one buffer, %dynamic_smem_size.

extern __shared__ __align__(16) unsigned char buffer[];

// Bytes needed: groups * 12 + blockDim.x.
extern "C" __global__ void dynamic_shared(const float *__restrict__ values,
                                          const unsigned char *__restrict__ labels,
                                          double *__restrict__ means, int *__restrict__ counts,
                                          int *__restrict__ room, int groups, int n) {
    double *sums = reinterpret_cast<double *>(buffer);
    int *hits = reinterpret_cast<int *>(buffer + groups * sizeof(double));
    unsigned char *mine = buffer + groups * (sizeof(double) + sizeof(int));

    for (int g = threadIdx.x; g < groups; g += blockDim.x) {
        sums[g] = 0.0;
        hits[g] = 0;
    }
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    mine[threadIdx.x] = i < n ? labels[i] : 0xff;
    __syncthreads();

    if (mine[threadIdx.x] < groups) {
        atomicAdd(&sums[mine[threadIdx.x]], static_cast<double>(values[i]));
        atomicAdd(&hits[mine[threadIdx.x]], 1);
    }
    __syncthreads();

    for (int g = threadIdx.x; g < groups; g += blockDim.x) {
        if (hits[g] == 0) continue;
        atomicAdd(&means[g], sums[g]);
        atomicAdd(&counts[g], hits[g]);
    }
    if (i == 0) {
        unsigned size;
        asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
        *room = static_cast<int>(size) - groups * 12 - static_cast<int>(blockDim.x);
    }
}
