// SPDX-License-Identifier: Apache-2.0
// Attention for one head of width 64: keys and values come in 32-row tiles by cp.async, two
// buffers, with the online softmax. One thread owns one query row.
// Exercises: cp.async with commit/wait groups, double buffering, long unrolled register arrays,
// ex2.approx.
#include <cuda_pipeline.h>

constexpr int kWidth = 64;
constexpr int kKeys = 32;
constexpr int kThreads = 64;

__device__ __forceinline__ void fetch(float (*tile)[kWidth], const float *from) {
    for (int p = threadIdx.x; p < kKeys * kWidth / 4; p += kThreads)
        __pipeline_memcpy_async(&tile[0][0] + p * 4, from + p * 4, 16);
}

// keys is a multiple of 32; the grid covers the queries exactly.
extern "C" __global__ void __launch_bounds__(kThreads)
attention_tile(const float *__restrict__ q, const float *__restrict__ k,
               const float *__restrict__ v, float *__restrict__ out, int keys, float scale) {
    __shared__ __align__(16) float k_tile[2][kKeys][kWidth];
    __shared__ __align__(16) float v_tile[2][kKeys][kWidth / 2];
    const size_t row = (size_t)blockIdx.x * kThreads + threadIdx.x;

    float query[kWidth], sum[kWidth / 2];
#pragma unroll
    for (int d = 0; d < kWidth; ++d) query[d] = q[row * kWidth + d] * scale;
#pragma unroll
    for (int d = 0; d < kWidth / 2; ++d) sum[d] = 0.0f;
    float top = -1e30f, weight = 0.0f;

    const int tiles = keys / kKeys;
    const int half = blockIdx.y;  // each block in y produces half of the value columns
    v += (size_t)half * keys * (kWidth / 2);
    for (int t = -1; t < tiles; ++t) {
        if (t + 1 < tiles) {
            const int to = (t + 1) & 1;
            fetch(k_tile[to], k + (size_t)(t + 1) * kKeys * kWidth);
            for (int p = threadIdx.x; p < kKeys * kWidth / 8; p += kThreads)
                __pipeline_memcpy_async(&v_tile[to][0][0] + p * 4,
                                        v + (size_t)(t + 1) * kKeys * (kWidth / 2) + p * 4, 16);
        }
        __pipeline_commit();
        if (t < 0) continue;
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int j = 0; j < kKeys; ++j) {
            float score = 0.0f;
#pragma unroll
            for (int d = 0; d < kWidth; ++d) score += query[d] * k_tile[t & 1][j][d];
            const float next = fmaxf(top, score);
            const float fade = __expf(top - next), p = __expf(score - next);
            weight = weight * fade + p;
            top = next;
#pragma unroll
            for (int d = 0; d < kWidth / 2; ++d) sum[d] = sum[d] * fade + p * v_tile[t & 1][j][d];
        }
        __syncthreads();
    }
    const float inverse = 1.0f / weight;
#pragma unroll
    for (int d = 0; d < kWidth / 2; ++d)
        out[row * kWidth + half * (kWidth / 2) + d] = sum[d] * inverse;
}
