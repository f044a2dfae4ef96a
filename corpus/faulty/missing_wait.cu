// SPDX-License-Identifier: Apache-2.0
// FAULTY. The tile is filled by cp.async and the group is committed, but nothing waits for it:
// the barrier orders the threads, not the copies, so the loads may read what was there before.
// A cp.async.wait_group 0 belongs before the barrier.

extern "C" __global__ void __launch_bounds__(128)
missing_wait(const float *__restrict__ in, float *__restrict__ out) {
    __shared__ __align__(16) float tile[512];
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x * 4]));
    in += (size_t)blockIdx.x * 512;
    out += (size_t)blockIdx.x * 512;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x * 4)
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const int i = j * 128 + threadIdx.x;
        out[i] = tile[511 - i];
    }
}
