// SPDX-License-Identifier: Apache-2.0
// A streaming triad that says how each access should be cached.
// Exercises: ld/st cache operators (.cs, .cg, .wt), L2 prefetch sizes, eviction priorities,
// createpolicy with a cache-hint operand, prefetch and discard.

extern "C" __global__ void streaming_triad(const float4 *__restrict__ a,
                                           const float4 *__restrict__ b,
                                           float4 *__restrict__ c, float s, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float4 x = __ldcs(a + i), y = __ldcg(b + i);
    __stcs(c + i, make_float4(x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w));
}

extern "C" __global__ void hinted_copy(const float *__restrict__ from, float *__restrict__ to,
                                       float *__restrict__ scratch, int n) {
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 0.5;" : "=l"(policy));
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float kept, once;
        asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(from + i));
        asm volatile("ld.global.L1::no_allocate.L2::cache_hint.L2::128B.f32 %0, [%1], %2;"
                     : "=f"(kept)
                     : "l"(from + i), "l"(policy));
        asm volatile("ld.global.L1::evict_first.f32 %0, [%1];" : "=f"(once) : "l"(from + i + n));
        __stwt(to + i, kept + once);
        asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(to + i + n), "f"(kept),
                     "l"(policy)
                     : "memory");
    }
    // The scratch line, 128-byte aligned, will not be read again.
    if (threadIdx.x == 0)
        asm volatile("discard.global.L2 [%0], 128;" ::"l"(scratch + blockIdx.x * 32) : "memory");
}
