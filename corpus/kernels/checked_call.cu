// SPDX-License-Identifier: Apache-2.0
// Real calls: functions kept out of line, printf and assert.
// Exercises: .func with return parameters, call sequences in braces, vprintf with a local
// argument buffer, __assertfail, string tables in .global, a struct returned by value.
#include <cassert>
#include <cstdio>

struct Root {
    double low, high;
    int steps;
};

__device__ __noinline__ double polynomial(const double *c, int degree, double x) {
    double v = c[degree];
    for (int i = degree - 1; i >= 0; --i) v = v * x + c[i];
    return v;
}

__device__ __noinline__ Root bisect(const double *c, int degree, double low, double high) {
    Root r{low, high, 0};
    const bool falls = polynomial(c, degree, low) > 0.0;
    while (r.high - r.low > 1e-9 && r.steps < 80) {
        const double middle = 0.5 * (r.low + r.high);
        const bool positive = polynomial(c, degree, middle) > 0.0;
        if (positive == falls)
            r.low = middle;
        else
            r.high = middle;
        ++r.steps;
    }
    return r;
}

extern "C" __global__ void checked_call(const double *__restrict__ coefficients, int degree,
                                        const double2 *__restrict__ brackets,
                                        double *__restrict__ roots, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double *c = coefficients + (size_t)i * (degree + 1);
    assert(brackets[i].x < brackets[i].y);
    const Root r = bisect(c, degree, brackets[i].x, brackets[i].y);
    if (r.steps == 80) printf("row %d: no root to 1e-9 in [%f, %f]\n", i, r.low, r.high);
    roots[i] = 0.5 * (r.low + r.high);
}
