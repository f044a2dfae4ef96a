// SPDX-License-Identifier: Apache-2.0
// A 64x32 tile of D = A * B^T by one warp group, both operands in shared memory without swizzle.
// Target: sm_90a.
// Exercises: wgmma.fence / mma_async / commit_group / wait_group, matrix descriptors in 64-bit
// registers, a predicate operand (scale-d), sixteen "+f" operands.
#include <cuda_fp16.h>

__device__ __forceinline__ unsigned shared_address(const void *p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Core matrices are 8 rows of 16 bytes: 128 bytes to the next along depth, 256 along rows.
__device__ __forceinline__ unsigned long long descriptor(unsigned address) {
    unsigned long long d = (address & 0x3ffff) >> 4;
    d |= static_cast<unsigned long long>(128 >> 4) << 16;
    d |= static_cast<unsigned long long>(256 >> 4) << 32;
    return d;
}

__device__ __forceinline__ void stage(half *tile, const half *from, int rows, int k) {
    for (int p = threadIdx.x; p < rows * 2; p += blockDim.x) {
        const int row = p / 2, part = p % 2;
        half *to = tile + ((row / 8) * 2 + part) * 64 + (row % 8) * 8;
        *reinterpret_cast<uint4 *>(to) =
            *reinterpret_cast<const uint4 *>(from + (size_t)row * k + part * 8);
    }
}

// One block of 128 threads; A is 64 x k and B is 32 x k, row major; k is a multiple of 16.
extern "C" __global__ void __launch_bounds__(128)
wgmma_tile(const half *__restrict__ a, const half *__restrict__ b, float *__restrict__ d, int k) {
    __shared__ __align__(128) half a_tile[64 * 16];
    __shared__ __align__(128) half b_tile[32 * 16];
    float s[16] = {};
    for (int step = 0; step < k; step += 16) {
        stage(a_tile, a + step, 64, k);
        stage(b_tile, b + step, 32, k);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile(
            "{\n\t.reg .pred p;\n\t"
            "setp.ne.b32 p, %18, 0;\n\t"
            "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 "
            "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
            "%16, %17, p, 1, 1, 0, 0;\n\t}"
            : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]), "+f"(s[4]), "+f"(s[5]), "+f"(s[6]),
              "+f"(s[7]), "+f"(s[8]), "+f"(s[9]), "+f"(s[10]), "+f"(s[11]), "+f"(s[12]),
              "+f"(s[13]), "+f"(s[14]), "+f"(s[15])
            : "l"(descriptor(shared_address(a_tile))), "l"(descriptor(shared_address(b_tile))),
              "r"(step));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    const int row = (threadIdx.x / 32) * 16 + (threadIdx.x % 32) / 4, col = (threadIdx.x % 4) * 2;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        float *at = d + row * 32 + j * 8 + col;
        *reinterpret_cast<float2 *>(at) = make_float2(s[j * 4], s[j * 4 + 1]);
        *reinterpret_cast<float2 *>(at + 8 * 32) = make_float2(s[j * 4 + 2], s[j * 4 + 3]);
    }
}
