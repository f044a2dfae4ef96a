// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch: the first kernel lets the next one start early; the second does
// its own preparation before it waits for the first one's results. Target: sm_90a.
// Exercises: griddepcontrol.launch_dependents / griddepcontrol.wait, from the API and from asm.

extern "C" __global__ void producer(const float *__restrict__ in, float *__restrict__ mid, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) mid[i] = in[i] * in[i] + 1.0f;
    cudaTriggerProgrammaticLaunchCompletion();
}

extern "C" __global__ void consumer(const float *mid, const float *__restrict__ weight,
                                    float *__restrict__ out, int n) {
    __shared__ float w[256];
    // Nothing here depends on the producer. 256 threads a block.
    w[threadIdx.x & 255] = weight[threadIdx.x & 255];
    __syncthreads();
    cudaGridDependencySynchronize();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mid[i] * w[i & 255];
}

extern "C" __global__ void chained(float *data, int n, float add) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (i < n) data[i] += add;
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
