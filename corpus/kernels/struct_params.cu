// SPDX-License-Identifier: Apache-2.0
// Kernel parameters of many shapes: structures by value, arrays inside them indexed at run time,
// a __grid_constant__ whose address is taken, small integers, and recursion on the device.
// Exercises: .param .align byte arrays, ld.param at offsets, as vectors and through a register
// that holds the parameter's address, narrow loads, a recursive .func.

struct View {
    const float *data;
    long long strides[4];
    int sizes[4];
    unsigned char rank;
    bool flipped;
};

extern "C" __global__ void gather_view(View v, float *__restrict__ out, short offset,
                                       signed char sign, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int to = i;
    long long at = offset;
#pragma unroll
    for (int d = 3; d >= 0; --d) {
        if (d < v.rank) {
            at += (i % v.sizes[d]) * v.strides[d];
            i /= v.sizes[d];
        }
    }
    out[v.flipped ? n - 1 - to : to] = v.data[at] * sign;
}

struct Table {
    float values[64];
};

extern "C" __global__ void read_table(const __grid_constant__ Table table,
                                      const unsigned char *__restrict__ picks,
                                      float *__restrict__ out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table.values[picks[i] & 63];
}

struct Node {
    int left, right;
    float value;
};

__device__ __noinline__ float tree_sum(const Node *nodes, int at) {
    if (at < 0) return 0.0f;
    const Node node = nodes[at];
    return node.value + tree_sum(nodes, node.left) + tree_sum(nodes, node.right);
}

extern "C" __global__ void sum_trees(const Node *nodes, const int *roots, float *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tree_sum(nodes, roots[i]);
}
