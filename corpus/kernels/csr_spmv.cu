// SPDX-License-Identifier: Apache-2.0
// Sparse matrix times vector, CSR storage: a thread a row, and a sub-warp of eight lanes a row.
// Exercises: data-dependent loop bounds, gathers, partial-width shuffles, unsigned 64-bit indices.

extern "C" __global__ void csr_spmv_scalar(const int *__restrict__ starts,
                                           const int *__restrict__ columns,
                                           const float *__restrict__ values,
                                           const float *__restrict__ x, float *__restrict__ y,
                                           int rows) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int e = starts[row]; e < starts[row + 1]; ++e) sum += values[e] * x[columns[e]];
    y[row] = sum;
}

// blockDim.x is a multiple of 32, so all lanes of a warp reach the shuffles.
extern "C" __global__ void csr_spmv_vector(const int *__restrict__ starts,
                                           const int *__restrict__ columns,
                                           const float *__restrict__ values,
                                           const float *__restrict__ x, float *__restrict__ y,
                                           int rows) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
    const int lane = threadIdx.x % 8;
    float sum = 0.0f;
    if (row < rows) {
        const int end = starts[row + 1];
        for (int e = starts[row] + lane; e < end; e += 8) sum += values[e] * x[columns[e]];
    }
    for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d, 8);
    if (lane == 0 && row < rows) y[row] = sum;
}
