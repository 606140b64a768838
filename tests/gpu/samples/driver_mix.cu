// SPDX-License-Identifier: Apache-2.0
/* nvcc: -lcuda */
/* The runtime and the driver interface in one program share the primary context. */
#include "common.cuh"

#include <cuda.h>

#define DRV(call) printf("%s = %d\n", #call, (int)(call))

__global__ void add(int *v, int x) {
    v[threadIdx.x] += x;
}

int main() {
    std::vector<int> v(32, 4);
    CUcontext primary = nullptr, current = nullptr, own;
    CUdeviceptr p;
    CUstream s;
    int x = 6, *d;
    cudaFunction_t f;
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;

    CK(cudaFree(nullptr));
    DRV(cuCtxGetCurrent(&current));
    DRV(cuDevicePrimaryCtxRetain(&primary, 0));
    printf("the primary is current %d\n", primary == current);
    DRV(cuMemAlloc(&p, 128));
    d = (int *)p;
    SHOW(cudaMemcpy(d, v.data(), 128, cudaMemcpyHostToDevice));
    /* A copy from pageable memory may be under way still, and `s` does not wait for it. */
    SHOW(cudaDeviceSynchronize());
    DRV(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    add<<<1, 32, 0, s>>>(d, 3);
    SHOW(cudaGetFuncBySymbol(&f, (const void *)add));
    void *args[] = {&d, &x};
    DRV(cuLaunchKernel((CUfunction)f, 1, 1, 1, 32, 1, 1, 0, s, args, nullptr));
    SHOW(cudaStreamSynchronize(s));
    printf("value %d\n", from_device(d, 32)[31]);
    DRV(cuCtxCreate(&own, nullptr, 0, 0));
    SHOW(cudaMemset(d, 0, 128));
    DRV(cuCtxDestroy(own));
    SHOW(cudaGetDriverEntryPointByVersion("cuMemGetInfo", &entry, 12000, cudaEnableDefault,
                                          &found));
    printf("found %d %d\n", found, entry != nullptr);
    SHOW(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &entry, 12000, cudaEnableDefault,
                                          &found));
    printf("found %d %d\n", found, entry != nullptr);
    DRV(cuDevicePrimaryCtxRelease(0));
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(d));
    return 0;
}
