// SPDX-License-Identifier: Apache-2.0
/* A kernel's printf, its size limit, and what comes out before a synchronisation's end. */
#include "common.cuh"

__global__ void say(int n) {
    for (int i = 0; i < n; i++)
        printf("kernel %d: %s %c %5.2f %llx %%\n", i, "text", 'a' + i, i * 1.25, 1ull << (40 + i));
}

__global__ void flood() {
    printf("block %d thread %d some words that fill the buffer soon\n", blockIdx.x, threadIdx.x);
}

int main() {
    size_t size;

    SHOW(cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize));
    printf("size %zu\n", size);
    say<<<1, 1>>>(5);
    SHOW(cudaDeviceSynchronize());
    printf("between\n");
    say<<<1, 1>>>(2);
    SHOW(cudaStreamSynchronize(nullptr));
    cudaStream_t s;
    cudaEvent_t e;
    CK(cudaStreamCreate(&s));
    CK(cudaEventCreate(&e));
    say<<<1, 1, 0, s>>>(1);
    CK(cudaEventRecord(e, s));
    SHOW(cudaEventSynchronize(e));
    printf("after the event\n");
    SHOW(cudaDeviceSynchronize());
    // Not in between: a call that does not wait, before which text may be out already, or not.
    int *d;
    CK(cudaMalloc(&d, 4));
    say<<<1, 1>>>(1);
    SHOW(cudaFree(d));
    // One thread after the other, so that the order is known.
    for (int i = 0; i < 3; i++) {
        flood<<<1, 1>>>();
        CK(cudaDeviceSynchronize());
    }
    say<<<1, 1>>>(1);
    return 0;
}
