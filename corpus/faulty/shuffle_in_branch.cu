// SPDX-License-Identifier: Apache-2.0
// FAULTY. The shuffle names all 32 lanes in its mask but stands in a branch that only the lower
// half of each warp takes, so half of the named lanes never arrive: undefined. The mask should be
// 0x0000ffff.

extern "C" __global__ void shuffle_in_branch(const float *__restrict__ in,
                                             float *__restrict__ out) {
    const int lane = threadIdx.x & 31;
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    float v = in[warp * 32 + lane];
    if (lane < 16) {
        v += in[warp * 32 + lane + 16];
        for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
        if (lane == 0) out[warp] = v;
    }
}
