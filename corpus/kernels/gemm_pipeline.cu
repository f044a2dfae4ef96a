// SPDX-License-Identifier: Apache-2.0
// Half-precision matrix product with a ring of STAGES shared buffers filled by cp.async,
// built for three and for four stages. 64x64 output tile, 128 threads, mma.sync inner product.
// Exercises: cp.async.cg, cp.async.wait_group N, dynamic shared memory, ldmatrix, mma.sync.
#include <cuda_fp16.h>

constexpr int kTile = 64;
constexpr int kDepth = 32;
constexpr int kPitchA = kDepth + 8;
constexpr int kPitchB = kTile + 8;
constexpr int kStageHalves = kTile * kPitchA + kDepth * kPitchB;

extern __shared__ __align__(128) half ring[];

__device__ __forceinline__ unsigned shared_address(const void *p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void copy16(half *to, const half *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
                 : "memory");
}

__device__ __forceinline__ void fill(half *stage, const half *a, const half *b, int n, int k) {
#pragma unroll
    for (int q = 0; q < 2; ++q) {
        const int p = threadIdx.x + q * 128;
        const int row = p / 4, part = (p % 4) * 8;
        copy16(stage + row * kPitchA + part, a + (size_t)row * k + part);
        const int brow = p / 8, bpart = (p % 8) * 8;
        copy16(stage + kTile * kPitchA + brow * kPitchB + bpart, b + (size_t)brow * n + bpart);
    }
}

template <int STAGES>
__device__ __forceinline__ void product(const half *a, const half *b, float *c, int n, int k) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    a += (size_t)blockIdx.y * kTile * k;
    b += blockIdx.x * kTile;
    float sum[8][4] = {};
    const int steps = k / kDepth;
#pragma unroll
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < steps)
            fill(ring + s * kStageHalves, a + s * kDepth, b + (size_t)s * kDepth * n, n, k);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        const int next = step + STAGES - 1;
        if (next < steps)
            fill(ring + (next % STAGES) * kStageHalves, a + next * kDepth,
                 b + (size_t)next * kDepth * n, n, k);
        asm volatile("cp.async.commit_group;" ::: "memory");
        const half *ta = ring + (step % STAGES) * kStageHalves, *tb = ta + kTile * kPitchA;
#pragma unroll
        for (int d = 0; d < kDepth; d += 16) {
            unsigned x[4], y[2];
            const half *pa = ta + (warp * 16 + lane % 16) * kPitchA + d + (lane / 16) * 8;
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                         : "r"(shared_address(pa)));
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                const half *pb = tb + (d + lane % 16) * kPitchB + j * 8;
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                             : "=r"(y[0]), "=r"(y[1])
                             : "r"(shared_address(pb)));
                asm volatile(
                    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                    "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                    : "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
                    : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
            }
        }
    }
    float *to = c + (size_t)(blockIdx.y * kTile + warp * 16 + lane / 4) * n + blockIdx.x * kTile;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        float *at = to + j * 8 + (lane % 4) * 2;
        *reinterpret_cast<float2 *>(at) = make_float2(sum[j][0], sum[j][1]);
        *reinterpret_cast<float2 *>(at + 8 * (size_t)n) = make_float2(sum[j][2], sum[j][3]);
    }
}

extern "C" __global__ void __launch_bounds__(128)
gemm_pipeline_3(const half *a, const half *b, float *c, int n, int k) {
    product<3>(a, b, c, n, k);
}

extern "C" __global__ void __launch_bounds__(128)
gemm_pipeline_4(const half *a, const half *b, float *c, int n, int k) {
    product<4>(a, b, c, n, k);
}
