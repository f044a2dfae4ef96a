// SPDX-License-Identifier: Apache-2.0
// Layer normalisation, one block a row, four floats at a time.
// Exercises: ld.global.nc.v4.f32, st.global.v4.f32, rsqrt.approx, block reduction of a pair.

__device__ __forceinline__ float2 block_sum(float2 v, float2 *scratch) {
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
        v.x += __shfl_xor_sync(0xffffffffu, v.x, d);
        v.y += __shfl_xor_sync(0xffffffffu, v.y, d);
    }
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    float2 all = make_float2(0.0f, 0.0f);
    for (int w = 0; w < blockDim.x / 32; ++w) {
        all.x += scratch[w].x;
        all.y += scratch[w].y;
    }
    return all;
}

extern "C" __global__ void layer_norm(const float4 *__restrict__ in,
                                      const float4 *__restrict__ gain,
                                      const float4 *__restrict__ shift, float4 *__restrict__ out,
                                      int quads, float epsilon) {
    __shared__ float2 scratch[32];
    in += (size_t)blockIdx.x * quads;
    out += (size_t)blockIdx.x * quads;

    float2 moments = make_float2(0.0f, 0.0f);
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        const float4 v = __ldg(in + i);
        moments.x += v.x + v.y + v.z + v.w;
        moments.y += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    moments = block_sum(moments, scratch);
    const float count = 4.0f * quads;
    const float mean = moments.x / count;
    const float inverse = rsqrtf(fmaxf(moments.y / count - mean * mean, 0.0f) + epsilon);

    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        const float4 v = __ldg(in + i), g = __ldg(gain + i), s = __ldg(shift + i);
        out[i] = make_float4(
            (v.x - mean) * inverse * g.x + s.x, (v.y - mean) * inverse * g.y + s.y,
            (v.z - mean) * inverse * g.z + s.z, (v.w - mean) * inverse * g.w + s.w);
    }
}
