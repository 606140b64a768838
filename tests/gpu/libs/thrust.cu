// SPDX-License-Identifier: Apache-2.0
/* needs: thrust/sort.h */
/* Thrust and CUB: sorts, scans, reductions, as templates compile them. */
#include "common.cuh"

#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

int main() {
    const int n = 200000;
    thrust::host_vector<unsigned> h(n);
    uint32_t seed = 4;

    for (int i = 0; i < n; i++)
        h[i] = next_random(&seed) % 100000;
    thrust::device_vector<unsigned> d = h, sums(n);
    printf("sum %llu\n", thrust::reduce(d.begin(), d.end(), 0ull));
    thrust::inclusive_scan(d.begin(), d.end(), sums.begin());
    printf("scan %u\n", (unsigned)sums[n - 1]);
    thrust::sort(d.begin(), d.end());
    h = d;
    printf("sorted %016llx\n", (unsigned long long)digest(h.data(), n * sizeof(unsigned)));
    printf("different %ld\n", (long)(thrust::unique(d.begin(), d.end()) - d.begin()));
    thrust::device_vector<float> keys(n);
    thrust::sequence(keys.begin(), keys.end(), 0.5f);
    thrust::stable_sort_by_key(keys.begin(), keys.end(), sums.begin(), thrust::greater<float>());
    printf("by key %u\n", (unsigned)sums[0]);
    SHOW(cudaGetLastError());
    return 0;
}
