// SPDX-License-Identifier: Apache-2.0
// Row softmax in one reading pass: running maximum and running sum, corrected as it moves.
// Exercises: ex2.approx, shfl.sync.bfly, max.f32, infinities as immediates (0fFF800000), two loops
// over a row.

struct State {
    float top, sum;
};

__device__ __forceinline__ State join(State a, State b) {
    const float top = fmaxf(a.top, b.top);
    // An empty state has top = -inf and sum = 0; the guard keeps (-inf) - (-inf) out.
    const float wa = a.sum > 0.0f ? __expf(a.top - top) : 0.0f;
    const float wb = b.sum > 0.0f ? __expf(b.top - top) : 0.0f;
    return State{top, a.sum * wa + b.sum * wb};
}

// One warp for each row.
extern "C" __global__ void softmax_online(const float *__restrict__ in, float *__restrict__ out,
                                          int rows, int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) return;
    in += (size_t)row * columns;
    out += (size_t)row * columns;

    State s{-__int_as_float(0x7f800000), 0.0f};
    for (int c = lane; c < columns; c += 32) s = join(s, State{in[c], 1.0f});
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
        State other;
        other.top = __shfl_xor_sync(0xffffffffu, s.top, d);
        other.sum = __shfl_xor_sync(0xffffffffu, s.sum, d);
        s = join(s, other);
    }
    const float inverse = 1.0f / s.sum;
    for (int c = lane; c < columns; c += 32) out[c] = __expf(in[c] - s.top) * inverse;
}
