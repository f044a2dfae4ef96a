// SPDX-License-Identifier: Apache-2.0
// Quantised matrix times vector with four-way byte dot products, and packed byte comparisons.
// Exercises: dp4a, dp2a, vabsdiff4, prmt, redux.sync, cvt.rni.s32.f32, brev.

extern "C" __global__ void int8_dot(const int4 *__restrict__ rows, const int4 *__restrict__ vector,
                                    const float *__restrict__ scales, signed char *__restrict__ out,
                                    int row_count, int pieces, float out_scale) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= row_count) return;
    int sum = 0;
    for (int p = lane; p < pieces; p += 32) {
        const int4 a = rows[(size_t)row * pieces + p], b = vector[p];
        sum = __dp4a(a.x, b.x, sum);
        sum = __dp4a(a.y, b.y, sum);
        sum = __dp4a(a.z, b.z, sum);
        sum = __dp4a(a.w, b.w, sum);
    }
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (lane == 0) {
        const int q = __float2int_rn(sum * scales[row] * out_scale);
        out[row] = static_cast<signed char>(max(-128, min(127, q)));
    }
}

extern "C" __global__ void int16_dot(const int2 *__restrict__ a, const int *__restrict__ b,
                                     int *__restrict__ out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __dp2a_hi(a[i].y, b[i], __dp2a_lo(a[i].x, b[i], 0));
}

extern "C" __global__ void byte_distance(const unsigned *__restrict__ a,
                                         const unsigned *__restrict__ b,
                                         unsigned *__restrict__ distance,
                                         unsigned *__restrict__ reversed, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    distance[i] = __vsadu4(a[i], b[i]) + __vmaxu4(a[i], b[i]);
    reversed[i] = __byte_perm(a[i], b[i], 0x0123) ^ __brev(a[i]);
}
