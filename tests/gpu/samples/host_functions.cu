// SPDX-License-Identifier: Apache-2.0
/* Host functions and callbacks in stream order, from several streams. */
#include "common.cuh"

#include <atomic>

static std::atomic<int> calls;
static int order[64];

__global__ void set(int *p, int value) {
    *p = value;
}

static void CUDART_CB note(void *data) {
    order[calls++] = (int)(intptr_t)data;
}

static void CUDART_CB seen(cudaStream_t, cudaError_t status, void *data) {
    order[calls++] = 100 * (status == cudaSuccess) + *(volatile int *)data;
}

static void CUDART_CB calls_cuda(void *data) {
    *(cudaError_t *)data = cudaStreamSynchronize(nullptr);
}

int main() {
    cudaStream_t s;
    int *mapped, *d;
    cudaError_t inside = cudaSuccess;

    CK(cudaStreamCreate(&s));
    CK(cudaHostAlloc(&mapped, sizeof(int), cudaHostAllocMapped));
    CK(cudaHostGetDevicePointer(&d, mapped, 0));
    for (int i = 0; i < 10; i++) {
        set<<<1, 1, 0, s>>>(d, i);
        CK(cudaLaunchHostFunc(s, note, (void *)(intptr_t)i));
        CK(cudaStreamAddCallback(s, seen, mapped, 0));
    }
    SHOW(cudaStreamSynchronize(s));
    printf("calls %d:", calls.load());
    for (int i = 0; i < calls; i++)
        printf(" %d", order[i]);
    printf("\n");
    SHOW(cudaLaunchHostFunc(s, calls_cuda, &inside));
    SHOW(cudaStreamSynchronize(s));
    printf("a call inside: %s\n", cudaGetErrorName(inside));
    SHOW(cudaLaunchHostFunc(s, nullptr, nullptr));
    SHOW(cudaStreamAddCallback(s, nullptr, nullptr, 0));
    SHOW(cudaStreamAddCallback(s, seen, mapped, 1));
    SHOW(cudaStreamDestroy(s));
    return 0;
}
