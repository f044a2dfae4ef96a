// SPDX-License-Identifier: Apache-2.0
// A 64x64 float tile in and out by tensor map: transposed in shared memory on the way
// (plainly, so the transposed stores meet on one bank).
// Target: sm_90a.
// Exercises: a __grid_constant__ CUtensorMap parameter (64-byte aligned .param bytes),
// prefetch.tensormap, cp.async.bulk.tensor.2d, dynamic shared memory.
#include <cuda.h>

constexpr int kTile = 64;
extern __shared__ __align__(1024) float tiles[];

__device__ __forceinline__ unsigned shared_address(const void *p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

extern "C" __global__ void __launch_bounds__(256)
tma_tensor_2d(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
    __shared__ __align__(8) unsigned long long ready;
    float *source = tiles, *turned = tiles + kTile * kTile;
    const unsigned barrier = shared_address(&ready);
    const int x = blockIdx.x * kTile, y = blockIdx.y * kTile;
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&in) : "memory");
        asm volatile("prefetch.tensormap [%0];" ::"l"(&out) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                     "r"(kTile * kTile * 4)
                     : "memory");
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(source)),
            "l"(&in), "r"(x), "r"(y), "r"(barrier)
            : "memory");
    }
    __syncthreads();
    unsigned done = 0;
    while (!done) {
        asm volatile(
            "{\n\t.reg .pred p;\n\t"
            "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n\t"
            "selp.u32 %0, 1, 0, p;\n\t}"
            : "=r"(done)
            : "r"(barrier)
            : "memory");
    }
    for (int i = threadIdx.x; i < kTile * kTile; i += blockDim.x)
        turned[(i % kTile) * kTile + i / kTile] = source[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile(
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
            "[%0, {%1, %2}], [%3];" ::"l"(&out),
            "r"(y), "r"(x), "r"(shared_address(turned))
            : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
