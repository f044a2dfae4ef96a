// SPDX-License-Identifier: Apache-2.0
// Indirect calls: virtual methods on objects made in the kernel and a table of function pointers.
// Exercises: .callprototype, indirect call with a prototype label, vtables in .global with
// function addresses as initialisers, cvta.local, generic loads of locals.

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual float edge(int count) const { return count * 0.5f; }
};

struct Box : Shape {
    float w, h;
    __device__ Box(float width, float height) : w(width), h(height) {}
    __device__ float area() const override { return w * h; }
};

struct Disc : Shape {
    float r;
    __device__ explicit Disc(float radius) : r(radius) {}
    __device__ float area() const override { return 3.14159265f * r * r; }
    __device__ float edge(int count) const override { return 6.2831853f * r / count; }
};

__device__ __noinline__ float measure(const Shape &s, int count) {
    return s.area() + s.edge(count);
}

extern "C" __global__ void virtual_call(const float2 *__restrict__ sizes,
                                        const int *__restrict__ kinds, float *__restrict__ out,
                                        int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Box box(sizes[i].x, sizes[i].y);
    const Disc disc(sizes[i].x);
    const Shape *shape = &disc;
    if (kinds[i] == 0) shape = &box;
    out[i] = measure(*shape, kinds[i] + 1);
}

typedef float (*Unary)(float);
__device__ __noinline__ float square(float v) { return v * v; }
__device__ __noinline__ float halve(float v) { return 0.5f * v; }
__device__ __noinline__ float flip(float v) { return -v; }
__device__ Unary const operations[3] = {square, halve, flip};

extern "C" __global__ void pointer_call(const unsigned char *__restrict__ codes,
                                        float *__restrict__ data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = operations[codes[i] % 3](data[i]);
}
