// SPDX-License-Identifier: Apache-2.0
// Lookups in constant memory: a filter whose taps are uniform, a table with initial values, and a
// structure of settings. One managed counter and one plain device variable.
// Exercises: .const arrays with initialisers, ld.const scalar and vector, .global variables,
// the .managed attribute, addresses formed from symbol plus register.

struct Settings {
    float gain;
    int clip_low, clip_high;
    short table_shift;
};

__constant__ float taps[16];
__constant__ Settings settings;
__constant__ unsigned char crumbs[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
__constant__ float4 corners[3] = {{1.0f, 2.0f, 3.0f, 4.0f}, {0.5f, 0.25f, 0.125f, 1e-3f}, {}};
__device__ double running_scale = 1.5;
__managed__ int clipped_count = 0;

extern "C" __global__ void constant_filter(const float *__restrict__ in, float *__restrict__ out,
                                           int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 16 > n) return;
    float sum = 0.0f;
#pragma unroll
    for (int t = 0; t < 16; ++t) sum += taps[t] * in[i + t];
    out[i] = sum * settings.gain;
}

extern "C" __global__ void constant_lookup(const int *__restrict__ in, int *__restrict__ out,
                                           int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int v = in[i] >> settings.table_shift;
    int bits = crumbs[v & 15] + crumbs[(v >> 4) & 15];
    const float4 c = corners[i % 3];
    bits += static_cast<int>(c.x + c.y * c.z + c.w * running_scale);
    if (bits < settings.clip_low || bits > settings.clip_high) atomicAdd(&clipped_count, 1);
    out[i] = min(max(bits, settings.clip_low), settings.clip_high);
}
