// SPDX-License-Identifier: Apache-2.0
// FAULTY. A shared array aligned to 16 bytes holds a bias first and four weights after it. Both
// kernels read the weights as one four-float vector, so at byte 4: a 16-byte load needs an address
// that is a multiple of 16, and this one never is. On a device the load stops the kernel with a
// misaligned-address error. The first kernel names the symbol; the second goes through a register.

extern "C" {
__shared__ __align__(16) float taps[8];
}

__device__ __forceinline__ float weigh(float bias, float4 w, const float *__restrict__ x) {
    return bias + w.x * x[0] + w.y * x[1] + w.z * x[2] + w.w * x[3];
}

extern "C" __global__ void misaligned_symbol(const float *__restrict__ weights,
                                             const float *__restrict__ in,
                                             float *__restrict__ out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 5) taps[threadIdx.x] = weights[threadIdx.x];
    __syncthreads();
    float4 w;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [taps+4];"
                 : "=f"(w.x), "=f"(w.y), "=f"(w.z), "=f"(w.w)
                 :
                 : "memory");
    out[i] = weigh(taps[0], w, in + 4 * i);
}

extern "C" __global__ void misaligned_register(const float *__restrict__ weights,
                                               const float *__restrict__ in,
                                               float *__restrict__ out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 5) taps[threadIdx.x] = weights[threadIdx.x];
    __syncthreads();
    const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(taps));
    float4 w;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4+4];"
                 : "=f"(w.x), "=f"(w.y), "=f"(w.z), "=f"(w.w)
                 : "r"(base)
                 : "memory");
    out[i] = weigh(taps[0], w, in + 4 * i);
}
