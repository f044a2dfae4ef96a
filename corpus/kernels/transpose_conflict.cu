// SPDX-License-Identifier: Apache-2.0
// Matrix transpose through an unpadded 32x32 shared tile. The answer is right; the read of a tile
// column puts all 32 lanes on one bank, the textbook 32-way conflict.
// Exercises: a shared load whose lane stride is 128 bytes.

constexpr int kTile = 32;
constexpr int kRows = 8;

extern "C" __global__ void __launch_bounds__(kTile *kRows)
transpose_conflict(const float *__restrict__ in, float *__restrict__ out, int width, int height) {
    __shared__ float tile[kTile][kTile];
    int x = blockIdx.x * kTile + threadIdx.x;
    int y = blockIdx.y * kTile + threadIdx.y;
#pragma unroll
    for (int j = 0; j < kTile; j += kRows)
        tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * width + x];
    __syncthreads();

    x = blockIdx.y * kTile + threadIdx.x;
    y = blockIdx.x * kTile + threadIdx.y;
#pragma unroll
    for (int j = 0; j < kTile; j += kRows)
        out[(size_t)(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
