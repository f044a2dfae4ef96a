// SPDX-License-Identifier: Apache-2.0
// One elementwise kernel template, instantiated for many element types, operations and widths.
// Exercises: long mangled names (nested namespaces, template arguments, literals, packs), many
// entries in one module, loads of every width, substitutions in the mangling.

namespace shop {
namespace parts {

template <typename T, int Width>
struct alignas(sizeof(T) * Width) Pack {
    T items[Width];
};

struct Add {
    template <typename T>
    __device__ T operator()(T a, T b) const { return a + b; }
};
struct Largest {
    template <typename T>
    __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <int Numerator, int Denominator>
struct Lerp {
    template <typename T>
    __device__ T operator()(T a, T b) const {
        return static_cast<T>(a + (b - a) * Numerator / Denominator);
    }
};

}  // namespace parts

template <typename T, typename Operation, int Width, bool Checked>
__global__ void elementwise(const parts::Pack<T, Width> *__restrict__ a,
                            const parts::Pack<T, Width> *__restrict__ b,
                            parts::Pack<T, Width> *__restrict__ out, int n, Operation op) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (Checked && i >= n) return;
    const parts::Pack<T, Width> x = a[i], y = b[i];
    parts::Pack<T, Width> z;
#pragma unroll
    for (int j = 0; j < Width; ++j) z.items[j] = op(x.items[j], y.items[j]);
    out[i] = z;
}

template <typename First, typename... Rest>
__global__ void count_bytes(unsigned long long *out) {
    *out = (sizeof(First) + ... + sizeof(Rest));
}

#define MAKE(T, Op, Width, Checked)                                                            \
    template __global__ void elementwise<T, Op, Width, Checked>(const parts::Pack<T, Width> *, \
                                                                const parts::Pack<T, Width> *, \
                                                                parts::Pack<T, Width> *, int, Op)
using HalfWay = parts::Lerp<1, 2>;
using Backwards = parts::Lerp<-3, 7>;
MAKE(float, parts::Add, 1, true);
MAKE(float, parts::Add, 2, true);
MAKE(float, parts::Add, 4, false);
MAKE(double, parts::Largest, 2, true);
MAKE(unsigned char, parts::Largest, 4, true);
MAKE(signed char, parts::Add, 16, false);
MAKE(short, HalfWay, 8, true);
MAKE(unsigned short, parts::Largest, 2, false);
MAKE(int, Backwards, 4, true);
MAKE(unsigned int, parts::Add, 1, false);
MAKE(long long, HalfWay, 2, true);
MAKE(unsigned long long, parts::Largest, 1, true);
template __global__ void count_bytes<char, parts::Pack<float, 4>, double (*)[3],
                                     parts::Pack<const void *, 2>>(unsigned long long *);

}  // namespace shop
