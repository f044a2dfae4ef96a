// SPDX-License-Identifier: Apache-2.0
// Many values alive at once under a launch bound that leaves few registers: ptxas must spill.
// A second kernel indexes a local array by a run-time value, which needs .local memory in PTX.
// Exercises: .maxntid/.minnctapersm, long live ranges, __local_depot, st.local / ld.local.

extern "C" __global__ void __launch_bounds__(1024, 2)
spill(const float *__restrict__ in, float *__restrict__ out, int rounds) {
    constexpr int kValues = 64;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;
    float v[kValues];
#pragma unroll
    for (int j = 0; j < kValues; ++j) v[j] = in[i + j * stride];
    for (int r = 0; r < rounds; ++r) {
#pragma unroll
        for (int j = 0; j < kValues; ++j)
            v[j] = v[j] * v[(j + 17) % kValues] + v[(j + 29) % kValues];
    }
#pragma unroll
    for (int j = 0; j < kValues; ++j) out[i + j * stride] = v[j];
}

extern "C" __global__ void local_table(const int *__restrict__ order, const float *__restrict__ in,
                                       float *__restrict__ out) {
    float kept[16];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int j = 0; j < 16; ++j) kept[j] = in[i * 16 + j];
    float sum = 0.0f;
    for (int j = 0; j < 16; ++j) {
        const int at = order[j] & 15;
        sum += kept[at];
        kept[at] = sum;
    }
    out[i] = sum + kept[order[16] & 15];
}
