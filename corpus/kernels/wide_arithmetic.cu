// SPDX-License-Identifier: Apache-2.0
// Integers wider than 64 bits: carry chains in inline asm and the compiler's own 128-bit type.
// Exercises: add.cc / addc.cc / addc, mad.lo.cc / madc.hi.cc, mul.hi.u64, and asm whose
// instructions depend on the hidden carry flag.

struct Wide {
    unsigned long long w[4];
};

extern "C" __global__ void add_256(const Wide *__restrict__ a, const Wide *__restrict__ b,
                                   Wide *__restrict__ out, unsigned *__restrict__ carries, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Wide x = a[i], y = b[i];
    Wide z;
    unsigned long long carry;
    asm("add.cc.u64 %0, %5, %9;\n\t"
        "addc.cc.u64 %1, %6, %10;\n\t"
        "addc.cc.u64 %2, %7, %11;\n\t"
        "addc.cc.u64 %3, %8, %12;\n\t"
        "addc.u64 %4, 0, 0;"
        : "=&l"(z.w[0]), "=&l"(z.w[1]), "=&l"(z.w[2]), "=&l"(z.w[3]), "=&l"(carry)
        : "l"(x.w[0]), "l"(x.w[1]), "l"(x.w[2]), "l"(x.w[3]), "l"(y.w[0]), "l"(y.w[1]), "l"(y.w[2]),
          "l"(y.w[3]));
    out[i] = z;
    carries[i] = static_cast<unsigned>(carry);
}

// 64 x 64 -> 128 from 32-bit pieces.
extern "C" __global__ void multiply_64(const uint2 *__restrict__ a, const uint2 *__restrict__ b,
                                       uint4 *__restrict__ out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint2 x = a[i], y = b[i];
    uint4 r;
    asm("mul.lo.u32 %0, %4, %6;\n\t"
        "mul.hi.u32 %1, %4, %6;\n\t"
        "mad.lo.cc.u32 %1, %4, %7, %1;\n\t"
        "madc.hi.u32 %2, %4, %7, 0;\n\t"
        "mad.lo.cc.u32 %1, %5, %6, %1;\n\t"
        "madc.hi.cc.u32 %2, %5, %6, %2;\n\t"
        "addc.u32 %3, 0, 0;\n\t"
        "mad.lo.cc.u32 %2, %5, %7, %2;\n\t"
        "madc.hi.u32 %3, %5, %7, %3;"
        : "=&r"(r.x), "=&r"(r.y), "=&r"(r.z), "=&r"(r.w)
        : "r"(x.x), "r"(x.y), "r"(y.x), "r"(y.y));
    out[i] = r;
}

extern "C" __global__ void multiply_mod(const unsigned long long *__restrict__ a,
                                        const unsigned long long *__restrict__ b,
                                        unsigned long long *__restrict__ out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    // Modulo the Mersenne prime 2^61 - 1.
    constexpr unsigned long long prime = (1ull << 61) - 1;
    const unsigned __int128 product = static_cast<unsigned __int128>(a[i]) * b[i];
    unsigned long long r = static_cast<unsigned long long>(product & prime) +
                           static_cast<unsigned long long>((product >> 61) & prime) +
                           static_cast<unsigned long long>(product >> 122);
    while (r >= prime) r -= prime;
    out[i] = r;
}
