// SPDX-License-Identifier: Apache-2.0
// C = A * B with half inputs and float sums through the nvcuda::wmma interface.
// Exercises: wmma.load / wmma.mma / wmma.store, skewed shared tiles, bar.sync in a loop.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int kTile = 64;
constexpr int kDepth = 16;
constexpr int kSkew = 8;

// 128 threads: four warps, each owns a 32x32 quarter of the 64x64 output tile.
extern "C" __global__ void __launch_bounds__(128)
wmma_matmul(const half *__restrict__ a, const half *__restrict__ b, float *__restrict__ c, int n,
            int k) {
    __shared__ __align__(32) half a_tile[kTile][kDepth + kSkew];
    __shared__ __align__(32) half b_tile[kDepth][kTile + kSkew];

    const int warp = threadIdx.x / 32;
    const int warp_row = (warp / 2) * 32;
    const int warp_col = (warp % 2) * 32;
    const int row0 = blockIdx.y * kTile;
    const int col0 = blockIdx.x * kTile;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
#pragma unroll
    for (int i = 0; i < 4; ++i) wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);

    for (int step = 0; step < k; step += kDepth) {
        // 64 rows of 16 halves and 16 rows of 64 halves: one 16-byte piece a thread for each.
        const int a_row = threadIdx.x / 2, a_col = (threadIdx.x % 2) * 8;
        const int b_row = threadIdx.x / 8, b_col = (threadIdx.x % 8) * 8;
        *reinterpret_cast<uint4 *>(&a_tile[a_row][a_col]) =
            *reinterpret_cast<const uint4 *>(&a[(size_t)(row0 + a_row) * k + step + a_col]);
        *reinterpret_cast<uint4 *>(&b_tile[b_row][b_col]) =
            *reinterpret_cast<const uint4 *>(&b[(size_t)(step + b_row) * n + col0 + b_col]);
        __syncthreads();

        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            wmma::load_matrix_sync(fa[i], &a_tile[warp_row + 16 * i][0], kDepth + kSkew);
            wmma::load_matrix_sync(fb[i], &b_tile[0][warp_col + 16 * i], kTile + kSkew);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i)
            wmma::mma_sync(sum[i / 2][i % 2], fa[i / 2], fb[i % 2], sum[i / 2][i % 2]);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int row = row0 + warp_row + 16 * (i / 2), col = col0 + warp_col + 16 * (i % 2);
        float *at = c + (size_t)row * n + col;
        wmma::store_matrix_sync(at, sum[i / 2][i % 2], n, wmma::mem_row_major);
    }
}
