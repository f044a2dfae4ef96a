// SPDX-License-Identifier: Apache-2.0
// A 16x8 (times depth) bf16 tile per warp, written with mma.sync and ldmatrix in inline asm.
// Exercises: ldmatrix.x4 / .x2.trans, mma.sync.m16n8k16, cvta to shared, vector stores.
#include <cuda_bf16.h>

constexpr int kPitch = 24;  // 16 used + 8 of padding: rows 48 bytes apart, no bank conflicts

__device__ __forceinline__ unsigned shared_address(const void *p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void load_a(unsigned (&r)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

__device__ __forceinline__ void load_b(unsigned (&r)[2], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(address)
                 : "memory");
}

__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4],
                                         const unsigned (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// One warp a block. A is 16 x k, row major; B is k x 8, row major; k is a multiple of 16.
extern "C" __global__ void __launch_bounds__(32)
mma_tile(const __nv_bfloat16 *__restrict__ a, const __nv_bfloat16 *__restrict__ b,
         float *__restrict__ d, int k) {
    __shared__ __align__(16) __nv_bfloat16 a_tile[16 * kPitch];
    __shared__ __align__(16) __nv_bfloat16 b_tile[16 * 8];
    const int lane = threadIdx.x;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};

    for (int step = 0; step < k; step += 16) {
        const int row = lane / 2, part = (lane % 2) * 8;
        *reinterpret_cast<uint4 *>(a_tile + row * kPitch + part) =
            *reinterpret_cast<const uint4 *>(a + (size_t)row * k + step + part);
        if (lane < 16)
            *reinterpret_cast<uint4 *>(b_tile + lane * 8) =
                *reinterpret_cast<const uint4 *>(b + (size_t)(step + lane) * 8);
        __syncwarp();

        unsigned fa[4], fb[2];
        load_a(fa, shared_address(a_tile + (lane % 16) * kPitch + (lane / 16) * 8));
        load_b(fb, shared_address(b_tile + (lane % 16) * 8));
        multiply(sum, fa, fb);
        __syncwarp();
    }
    const int row = lane / 4, col = (lane % 4) * 2;
    *reinterpret_cast<float2 *>(d + row * 8 + col) = make_float2(sum[0], sum[1]);
    *reinterpret_cast<float2 *>(d + (row + 8) * 8 + col) = make_float2(sum[2], sum[3]);
}
