// SPDX-License-Identifier: Apache-2.0
/* Atomic operations on all widths, in global, shared and mapped host memory. */
#include "common.cuh"

struct results {
    int add, sub, low, high, and_, or_, xor_, cas;
    unsigned inc, dec, exchanged;
    unsigned long long wide, wide_max;
    float f;
    double d;
};

__global__ void all(results *r, int *bins, int *host) {
    __shared__ int local[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (threadIdx.x < 16)
        local[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&local[i % 16], 1);
    atomicAdd(&r->add, i);
    atomicSub(&r->sub, 1);
    atomicMin(&r->low, i - 500);
    atomicMax(&r->high, i);
    atomicAnd(&r->and_, ~(1 << (i % 20)));
    atomicOr(&r->or_, 1 << (i % 30));
    atomicXor(&r->xor_, i);
    atomicInc(&r->inc, 999);
    atomicDec(&r->dec, 500);
    atomicExch(&r->exchanged, 77u);
    int old = r->cas, seen;
    do {
        seen = old;
        old = atomicCAS(&r->cas, seen, seen + 2);
    } while (old != seen);
    atomicAdd(&r->wide, 1ull << 33);
    atomicMax(&r->wide_max, (unsigned long long)i << 20);
    atomicAdd(&r->f, 0.5f);
    atomicAdd(&r->d, 0.25);
    atomicAdd_system(host, 1);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main() {
    std::vector<results> r(1);
    std::vector<int> bins(16, 0);
    int *host, *mapped;

    memset((void *)r.data(), 0, sizeof(results));
    r[0].and_ = -1;
    results *dr = on_device(r);
    int *db = on_device(bins);
    CK(cudaHostAlloc(&host, sizeof(int), cudaHostAllocMapped));
    CK(cudaHostGetDevicePointer(&mapped, host, 0));
    *host = 0;
    all<<<64, 256>>>(dr, db, mapped);
    SHOW(cudaDeviceSynchronize());
    results v = from_device(dr, 1)[0];
    printf("%d %d %d %d %x %x %x %d\n", v.add, v.sub, v.low, v.high, v.and_, v.or_, v.xor_, v.cas);
    printf("%u %u %u %llu %llu\n", v.inc, v.dec, v.exchanged, v.wide, v.wide_max);
    printf("%.1f %.2f\n", v.f, v.d);
    for (int bin : from_device(db, 16))
        printf("%d ", bin);
    printf("\nhost %d\n", *host);
    return 0;
}
