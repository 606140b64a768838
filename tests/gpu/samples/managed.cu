// SPDX-License-Identifier: Apache-2.0
/* Managed memory: both sides write it in turns; advice, prefetch, attributes. */
#include "common.cuh"

__device__ __managed__ int counter;

__global__ void twice(int *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        v[i] *= 2;
    if (!i)
        counter += 1;
}

int main() {
    const int n = 100000;
    const size_t bytes = n * sizeof(int);
    cudaMemLocation device = {}, host = {};
    cudaPointerAttributes a;
    int *v, wrong = 0, value = -9;

    device.type = cudaMemLocationTypeDevice;
    host.type = cudaMemLocationTypeHost;
    SHOW(cudaDeviceGetAttribute(&value, cudaDevAttrManagedMemory, 0));
    printf("managed %d\n", value);
    SHOW(cudaMallocManaged(&v, bytes));
    for (int i = 0; i < n; i++)
        v[i] = i;
    twice<<<(n + 255) / 256, 256>>>(v, n);
    SHOW(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) {
        wrong += v[i] != 2 * i;
        v[i] = i + 1;
    }
    printf("first wrong %d\n", wrong);
    SHOW(cudaMemPrefetchAsync(v, bytes, device, 0, 0));
    twice<<<(n + 255) / 256, 256>>>(v, n);
    SHOW(cudaMemPrefetchAsync(v, bytes, host, 0, 0));
    SHOW(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        wrong += v[i] != 2 * (i + 1);
    printf("second wrong %d counter %d\n", wrong, counter);
    SHOW(cudaMemAdvise(v, bytes, cudaMemAdviseSetReadMostly, device));
    SHOW(cudaMemRangeGetAttribute(&value, sizeof(value), cudaMemRangeAttributeReadMostly, v,
                                  bytes));
    printf("read mostly %d\n", value);
    SHOW(cudaMemAdvise(v, bytes, cudaMemAdviseUnsetReadMostly, device));
    SHOW(cudaMemAdvise(v, bytes, (cudaMemoryAdvise)99, device));
    SHOW(cudaPointerGetAttributes(&a, v));
    printf("type %d device %d both the same %d\n", a.type, a.device,
           a.devicePointer == a.hostPointer);
    SHOW(cudaStreamAttachMemAsync(0, v, 0, cudaMemAttachGlobal));
    SHOW(cudaMemcpy(v, v + n / 2, bytes / 2, cudaMemcpyDefault));
    printf("copied %d\n", v[0]);
    SHOW(cudaMemset(v, 0, bytes));
    SHOW(cudaDeviceSynchronize());
    printf("zero %d\n", v[n - 1]);
    SHOW(cudaMallocManaged(&v, 0));
    SHOW(cudaMallocManaged((int **)nullptr, bytes));
    SHOW(cudaMallocManaged(&v, bytes, 99));
    SHOW(cudaFree(v));
    return 0;
}
