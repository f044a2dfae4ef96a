// SPDX-License-Identifier: Apache-2.0
// What an application that leaves its sorting to thrust is compiled to: some 1.8 MB of PTX.
#include <thrust/device_ptr.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

template <class T>
T run(T* data, int count)
{
    thrust::device_ptr<T> first(data);
    thrust::sort(first, first + count);
    thrust::device_ptr<T> last = thrust::unique(first, first + count);
    thrust::inclusive_scan(first, last, first);
    return thrust::reduce(first, last);
}

double run_all(float* floats, double* doubles, int* ints, long long* longs, int count)
{
    double sum = run(floats, count);
    sum += run(doubles, count);
    sum += run(ints, count);
    return sum + static_cast<double>(run(longs, count));
}
