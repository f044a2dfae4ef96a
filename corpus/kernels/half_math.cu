// SPDX-License-Identifier: Apache-2.0
// Arithmetic in half and bfloat16, two at a time, with the odd last element on its own.
// Exercises: fma.rn.f16x2 / bf16x2, set.eq.f16x2, cvt.rn.bf16x2.f32, 16-bit registers, packed
// min and max, mov.b32 {lo, hi} packing, header asm in braces on one line.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half_axpy(__half a, const __half *__restrict__ x,
                                     __half *__restrict__ y, int n) {
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < n) {
        __half2 *to = reinterpret_cast<__half2 *>(y + i);
        *to = __hfma2(__half2half2(a), *reinterpret_cast<const __half2 *>(x + i), *to);
    } else if (i < n) {
        y[i] = __hfma(a, x[i], y[i]);
    }
}

extern "C" __global__ void half_swish(const __half2 *__restrict__ in, __half2 *__restrict__ out,
                                      int pairs) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    const __half2 one = __float2half2_rn(1.0f);
    const __half2 v = __hmin2(__hmax2(in[i], __float2half2_rn(-10.0f)), __float2half2_rn(10.0f));
    const __half2 s = h2rcp(__hadd2(one, h2exp(__hneg2(v))));
    out[i] = __hmul2(in[i], s);
}

extern "C" __global__ void bf16_mix(const __nv_bfloat162 *__restrict__ a,
                                    const __nv_bfloat162 *__restrict__ b,
                                    const float2 *__restrict__ w,
                                    __nv_bfloat162 *__restrict__ out, int pairs) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    const float2 wide_a = __bfloat1622float2(a[i]), wide_b = __bfloat1622float2(b[i]);
    const float2 v = make_float2(wide_a.x * w[i].x + wide_b.x * (1.0f - w[i].x),
                                 wide_a.y * w[i].y + wide_b.y * (1.0f - w[i].y));
    const __nv_bfloat162 mixed = __floats2bfloat162_rn(v.x, v.y);
    out[i] = __hgt2(mixed, a[i]).x == __float2bfloat16(0.0f) ? __hfma2(a[i], b[i], mixed) : mixed;
}
