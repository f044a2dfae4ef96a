// SPDX-License-Identifier: Apache-2.0
// Scaled conversion between float and the two 8-bit float formats, and stmatrix of a warp tile.
// Target: sm_90a.
// Exercises: cvt.rn.satfinite.e4m3x2.f32, cvt.rn.f16x2.e5m2x2 inside header asm, stmatrix, 16-bit
// registers.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void to_e4m3(const float4 *__restrict__ in, unsigned *__restrict__ out,
                                   float scale, int quads) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    const float4 v = in[i];
    unsigned short low, high;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
        : "=h"(low)
        : "f"(v.y * scale), "f"(v.x * scale));
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
        : "=h"(high)
        : "f"(v.w * scale), "f"(v.z * scale));
    out[i] = low | static_cast<unsigned>(high) << 16;
}

extern "C" __global__ void from_e5m2(const __nv_fp8x2_e5m2 *__restrict__ in,
                                     float2 *__restrict__ out, float scale, int pairs) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    const float2 v = static_cast<float2>(in[i]);
    out[i] = make_float2(v.x * scale, v.y * scale);
}

// 32 threads a block. The warp turns an 8x8 half tile: plain loads in fragment order, transposed
// matrix store.
extern "C" __global__ void turn_tile(const __half2 *__restrict__ in, __half *__restrict__ out) {
    __shared__ __align__(16) __half tile[64];
    const int lane = threadIdx.x % 32;
    const __half2 pair = in[blockIdx.x * 32 + lane];
    const unsigned bits = *reinterpret_cast<const unsigned *>(&pair);
    const unsigned row = static_cast<unsigned>(__cvta_generic_to_shared(&tile[(lane % 8) * 8]));
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(row), "r"(bits)
                 : "memory");
    __syncwarp();
    reinterpret_cast<__half2 *>(out)[blockIdx.x * 32 + lane] =
        reinterpret_cast<const __half2 *>(tile)[lane];
}
