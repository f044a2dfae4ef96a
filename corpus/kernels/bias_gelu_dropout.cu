// SPDX-License-Identifier: Apache-2.0
// Fused bias + GELU + dropout with a counter-based random generator.
// Exercises: rounds of mul.hi and mul.lo, float4 loads and stores, a grid-stride loop, tanh through
// ex2 and rcp with a branch on size, selp from the dropout mask, st.global.v4.u8.

struct Counter {
    unsigned x, y, z, w;
};

// Ten rounds of a Philox-style 4x32 bijection: same counter and key, same numbers.
__device__ __forceinline__ Counter mix(Counter c, unsigned k0, unsigned k1) {
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const unsigned hi0 = __umulhi(0xD2511F53u, c.x);
        const unsigned lo0 = 0xD2511F53u * c.x;
        const unsigned hi1 = __umulhi(0xCD9E8D57u, c.z);
        const unsigned lo1 = 0xCD9E8D57u * c.z;
        c = Counter{hi1 ^ c.y ^ k0, lo1, hi0 ^ c.w ^ k1, lo0};
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}

__device__ __forceinline__ float gelu(float v) {
    const float inner = 0.7978845608f * (v + 0.044715f * v * v * v);
    return 0.5f * v * (1.0f + tanhf(inner));
}

__device__ __forceinline__ float unit(unsigned bits) { return bits * 2.3283064365386963e-10f; }

extern "C" __global__ void bias_gelu_dropout(const float4 *__restrict__ in,
                                             const float4 *__restrict__ bias,
                                             float4 *__restrict__ out,
                                             uchar4 *__restrict__ mask, int quads, int bias_quads,
                                             float keep, unsigned long long seed) {
    const float scale = 1.0f / keep;
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += stride) {
        const float4 v = in[i];
        const float4 b = bias[i % bias_quads];
        const Counter r = mix(Counter{static_cast<unsigned>(i), 0u, 0u, 0u},
                              static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
        const uchar4 m = make_uchar4(unit(r.x) < keep, unit(r.y) < keep, unit(r.z) < keep,
                                     unit(r.w) < keep);
        float4 o;
        o.x = m.x ? gelu(v.x + b.x) * scale : 0.0f;
        o.y = m.y ? gelu(v.y + b.y) * scale : 0.0f;
        o.z = m.z ? gelu(v.z + b.z) * scale : 0.0f;
        o.w = m.w ? gelu(v.w + b.w) * scale : 0.0f;
        out[i] = o;
        mask[i] = m;
    }
}
