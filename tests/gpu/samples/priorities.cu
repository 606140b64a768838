// SPDX-License-Identifier: Apache-2.0
/* Streams at every priority, and beyond the range. */
#include "common.cuh"

__global__ void count(int *n) {
    atomicAdd(n, 1);
}

int main() {
    int low, high, *d;

    CK(cudaMalloc(&d, sizeof(int)));
    CK(cudaMemset(d, 0, sizeof(int)));
    CK(cudaDeviceSynchronize());
    SHOW(cudaDeviceGetStreamPriorityRange(&low, &high));
    printf("from %d to %d\n", low, high);
    SHOW(cudaDeviceGetStreamPriorityRange(nullptr, nullptr));
    for (int wanted = low + 2; wanted >= high - 2; wanted--) {
        cudaStream_t s;
        int got = 99;

        CK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, wanted));
        CK(cudaStreamGetPriority(s, &got));
        count<<<1, 32, 0, s>>>(d);
        CK(cudaStreamSynchronize(s));
        CK(cudaStreamDestroy(s));
        printf("wanted %d got %d\n", wanted, got);
    }
    printf("counted %d\n", from_device(d, 1)[0]);
    return 0;
}
