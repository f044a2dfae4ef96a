// SPDX-License-Identifier: Apache-2.0
// Kernels of one's own over cub's block primitives: built with -lineinfo, and with -G.
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

template <class T, int THREADS, int ITEMS>
__global__ void __launch_bounds__(THREADS) sort_tiles(const T* in, T* out)
{
    using Load = cub::BlockLoad<T, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<T, THREADS, ITEMS>;
    using Store = cub::BlockStore<T, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Sort::TempStorage sort;
        typename Store::TempStorage store;
    } scratch;
    T items[ITEMS];
    const size_t tile = static_cast<size_t>(blockIdx.x) * THREADS * ITEMS;
    Load(scratch.load).Load(in + tile, items);
    __syncthreads();
    Sort(scratch.sort).Sort(items);
    __syncthreads();
    Store(scratch.store).Store(out + tile, items);
}

template <class T, int THREADS, int ITEMS>
__global__ void __launch_bounds__(THREADS) scan_tiles(const T* in, T* out, T* sums, int count)
{
    using Scan = cub::BlockScan<T, THREADS>;
    using Reduce = cub::BlockReduce<T, THREADS>;
    __shared__ typename Scan::TempStorage scan;
    __shared__ typename Reduce::TempStorage reduce;
    T items[ITEMS];
    const int first = (blockIdx.x * THREADS + threadIdx.x) * ITEMS;
    for (int i = 0; i < ITEMS; ++i)
        items[i] = first + i < count ? in[first + i] : T(0);
    Scan(scan).InclusiveSum(items, items);
    for (int i = 0; i < ITEMS; ++i)
        if (first + i < count)
            out[first + i] = items[i];
    const T sum = Reduce(reduce).Sum(items[ITEMS - 1]);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

template __global__ void sort_tiles<int, 128, 4>(const int*, int*);
template __global__ void sort_tiles<double, 256, 2>(const double*, double*);
template __global__ void scan_tiles<float, 128, 4>(const float*, float*, float*, int);
template __global__ void scan_tiles<unsigned long long, 64, 8>(
    const unsigned long long*, unsigned long long*, unsigned long long*, int);
