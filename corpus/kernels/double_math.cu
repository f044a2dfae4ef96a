// SPDX-License-Identifier: Apache-2.0
// Double precision: compensated dot product, a step of n-body forces, double matrix fragments.
// Exercises: fma.rn.f64, sqrt.rn and div.rn in f64, atom.global.add.f64, mma.sync.m8n8k4 in
// f64, 0d immediates, 64-bit shuffles split in halves.

extern "C" __global__ void double_dot(const double *__restrict__ a, const double *__restrict__ b,
                                      double *__restrict__ out, int n) {
    double sum = 0.0, lost = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const double product = __dmul_rn(a[i], b[i]);
        const double error = __fma_rn(a[i], b[i], -product);
        const double next = __dadd_rn(sum, product);
        const double back = __dadd_rn(next, -sum);
        lost += (sum - (next - back)) + (product - back) + error;
        sum = next;
    }
    sum += lost;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

struct alignas(16) Body {
    double x, y, z, w;
};

extern "C" __global__ void double_forces(const Body *__restrict__ bodies,
                                         double3 *__restrict__ forces, int n, double softening) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Body me = bodies[i];
    double3 f = make_double3(0.0, 0.0, 0.0);
    for (int j = 0; j < n; ++j) {
        const Body o = bodies[j];
        const double dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
        const double r2 = dx * dx + dy * dy + dz * dz + softening;
        const double pull = o.w / (r2 * sqrt(r2));
        f.x += pull * dx;
        f.y += pull * dy;
        f.z += pull * dz;
    }
    forces[i] = f;
}

extern "C" __global__ void double_mma(const double *__restrict__ a, const double *__restrict__ b,
                                      double2 *__restrict__ d, int k) {
    const int lane = threadIdx.x % 32;
    double s0 = 0.0, s1 = 0.0;
    for (int step = 0; step < k; step += 4) {
        const double x = a[(lane / 4) * k + step + lane % 4];
        const double y = b[(lane / 4) * k + step + lane % 4];
        asm volatile(
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(s0), "+d"(s1)
            : "d"(x), "d"(y));
    }
    d[lane] = make_double2(s0, s1);
}
