// SPDX-License-Identifier: Apache-2.0
// Matrix transpose through a 32x33 shared tile; the extra column spreads the banks.
// Exercises: 2D thread indices, bounds checks, shared stores and loads free of bank conflicts.

constexpr int kTile = 32;
constexpr int kRows = 8;

extern "C" __global__ void __launch_bounds__(kTile *kRows)
transpose_padded(const float *__restrict__ in, float *__restrict__ out, int width, int height) {
    __shared__ float tile[kTile][kTile + 1];
    int x = blockIdx.x * kTile + threadIdx.x;
    int y = blockIdx.y * kTile + threadIdx.y;
#pragma unroll
    for (int j = 0; j < kTile; j += kRows)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * width + x];
    __syncthreads();

    x = blockIdx.y * kTile + threadIdx.x;
    y = blockIdx.x * kTile + threadIdx.y;
#pragma unroll
    for (int j = 0; j < kTile; j += kRows)
        if (x < height && y + j < width)
            out[(size_t)(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
