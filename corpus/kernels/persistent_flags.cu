// SPDX-License-Identifier: Apache-2.0
// A persistent kernel: blocks take tickets for tiles; tile t waits for the running sum of tile
// t - 1, which the owner publishes with release and the waiter reads with acquire.
// Exercises: ld.acquire.gpu, st.release.gpu, atom.add.relaxed and acq_rel, fence.sc, a spin loop
// with nanosleep, a loop with its exit in the middle.
#include <cuda/atomic>

__device__ __forceinline__ unsigned load_acquire(const unsigned *p) {
    unsigned v;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

__device__ __forceinline__ void store_release(unsigned *p, unsigned v) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

extern "C" __global__ void persistent_flags(const int *__restrict__ in, int *__restrict__ running,
                                            unsigned *flags, unsigned *ticket, unsigned tiles) {
    __shared__ unsigned mine;
    __shared__ int partial;
    for (;;) {
        if (threadIdx.x == 0) {
            cuda::atomic_ref<unsigned, cuda::thread_scope_device> next(*ticket);
            mine = next.fetch_add(1u, cuda::std::memory_order_relaxed);
            partial = 0;
        }
        __syncthreads();
        const unsigned tile = mine;
        if (tile >= tiles) return;

        atomicAdd(&partial, in[(size_t)tile * blockDim.x + threadIdx.x]);
        __syncthreads();
        if (threadIdx.x == 0) {
            int before = 0;
            if (tile > 0) {
                while (load_acquire(&flags[tile - 1]) == 0) __nanosleep(64);
                before = running[tile - 1];
            }
            running[tile] = before + partial;
            store_release(&flags[tile], 1u);
        }
        __syncthreads();
    }
}

// The last block to arrive reports; it must see what all others wrote.
extern "C" __global__ void last_block(const float *__restrict__ in, float *partials,
                                      float *__restrict__ total, unsigned *arrived) {
    if (threadIdx.x != 0) return;
    partials[blockIdx.x] = in[blockIdx.x];
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*arrived);
    if (count.fetch_add(1u, cuda::std::memory_order_acq_rel) == gridDim.x - 1) {
        float sum = 0.0f;
        for (unsigned b = 0; b < gridDim.x; ++b) sum += partials[b];
        *total = sum;
        count.store(0u, cuda::std::memory_order_seq_cst);
    }
}
