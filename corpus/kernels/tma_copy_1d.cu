// SPDX-License-Identifier: Apache-2.0
// Bulk copies through shared memory: global -> shared waits on an mbarrier, shared -> global on a
// bulk group. Target: sm_90a.
// Exercises: cp.async.bulk both ways, mbarrier.init / arrive.expect_tx / try_wait.parity, fences,
// an inline-asm wait loop with local labels.

constexpr int kFloats = 1024;

__device__ __forceinline__ unsigned shared_address(const void *p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void wait_phase(unsigned barrier, unsigned phase) {
    asm volatile(
        "{\n\t"
        ".reg .pred done;\n"
        "WAIT_%=:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
        "@done bra.uni READY_%=;\n\t"
        "bra.uni WAIT_%=;\n"
        "READY_%=:\n\t"
        "}" ::"r"(barrier),
        "r"(phase)
        : "memory");
}

// out = in * factor, for a whole number of 1024-float pieces.
extern "C" __global__ void __launch_bounds__(256)
tma_copy_1d(const float *in, float *out, int pieces, float factor) {
    __shared__ __align__(128) float tile[kFloats];
    __shared__ __align__(8) unsigned long long ready;
    const unsigned barrier = shared_address(&ready);
    const bool leader = threadIdx.x == 0;
    if (leader) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    unsigned phase = 0;
    for (int p = blockIdx.x; p < pieces; p += gridDim.x) {
        if (leader) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                         "n"(kFloats * 4)
                         : "memory");
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                "[%0], [%1], %2, [%3];" ::"r"(shared_address(tile)),
                "l"(in + (size_t)p * kFloats), "n"(kFloats * 4), "r"(barrier)
                : "memory");
        }
        wait_phase(barrier, phase);
        phase ^= 1;
        for (int i = threadIdx.x; i < kFloats; i += blockDim.x) tile[i] *= factor;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (leader) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                             out + (size_t)p * kFloats),
                         "r"(shared_address(tile)), "n"(kFloats * 4)
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
        __syncthreads();
    }
    if (leader) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
