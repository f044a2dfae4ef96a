// SPDX-License-Identifier: Apache-2.0
// Five-point stencil on a grid with a halo kept in shared memory.
// Exercises: nested predicates on block edges, 2D shared indexing, immediate offsets.

constexpr int kX = 32;
constexpr int kY = 8;

extern "C" __global__ void __launch_bounds__(kX *kY)
stencil_2d(const float *__restrict__ in, float *__restrict__ out, int width, int height,
           float centre, float side) {
    __shared__ float tile[kY + 2][kX + 2];
    const int x = blockIdx.x * kX + threadIdx.x, y = blockIdx.y * kY + threadIdx.y;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    // Past the edge, the nearest inside value is repeated.
    auto at = [&](int px, int py) {
        px = min(max(px, 0), width - 1);
        py = min(max(py, 0), height - 1);
        return in[(size_t)py * width + px];
    };
    tile[ty][tx] = at(x, y);
    if (threadIdx.x == 0) tile[ty][0] = at(x - 1, y);
    if (threadIdx.x == kX - 1) tile[ty][kX + 1] = at(x + 1, y);
    if (threadIdx.y == 0) tile[0][tx] = at(x, y - 1);
    if (threadIdx.y == kY - 1) tile[kY + 1][tx] = at(x, y + 1);
    __syncthreads();

    if (x < width && y < height)
        out[(size_t)y * width + x] =
            centre * tile[ty][tx] +
            side * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}
