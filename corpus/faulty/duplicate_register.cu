// SPDX-License-Identifier: Apache-2.0
// FAULTY. The asm text declares a register without braces round it. Inlined twice into one kernel,
// it declares the same name twice in one scope: nvcc -ptx passes the text on, ptxas rejects it.
// Braces round the asm text would give each copy its own scope.

__device__ __forceinline__ unsigned rotate_mix(unsigned v, unsigned by) {
    unsigned out;
    asm(".reg .b32 tmp;\n\t"
        "shf.l.wrap.b32 tmp, %1, %1, %2;\n\t"
        "xor.b32 %0, tmp, %1;"
        : "=r"(out)
        : "r"(v), "r"(by));
    return out;
}

extern "C" __global__ void duplicate_register(const unsigned *__restrict__ in,
                                              unsigned *__restrict__ out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned v = in[i];
    out[i] = rotate_mix(rotate_mix(v, 7), 13);
}
