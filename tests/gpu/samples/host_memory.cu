// SPDX-License-Identifier: Apache-2.0
/* Pinned, mapped, write-combined and registered memory; what pointers say. */
#include "common.cuh"

#include <sys/mman.h>

__global__ void scale(int *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        v[i] *= 3;
}

static void pointer(const char *what, const void *p) {
    cudaPointerAttributes a = {};
    cudaError_t r = cudaPointerGetAttributes(&a, p);

    printf("%s: %s type %d device %d, device pointer %d, host pointer %d\n", what,
           cudaGetErrorName(r), a.type, a.device, a.devicePointer != nullptr,
           a.hostPointer != nullptr);
}

static void run(const char *what, int *host, int n) {
    int *d, wrong = 0;

    for (int i = 0; i < n; i++)
        host[i] = i;
    pointer(what, host);
    SHOW(cudaHostGetDevicePointer(&d, host, 0));
    scale<<<(n + 255) / 256, 256>>>(d, n);
    SHOW(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        wrong += host[i] != 3 * i;
    printf("%s wrong %d\n", what, wrong);
}

int main() {
    const int n = 1 << 18;
    const size_t bytes = n * sizeof(int);
    int *p, *d;
    unsigned flags;

    SHOW(cudaMallocHost(&p, bytes));
    run("pinned", p, n);
    SHOW(cudaHostGetFlags(&flags, p));
    printf("flags %x\n", flags);
    SHOW(cudaFreeHost(p));
    SHOW(cudaHostAlloc(&p, bytes, cudaHostAllocMapped | cudaHostAllocWriteCombined));
    run("write-combined", p, n);
    SHOW(cudaHostGetFlags(&flags, p));
    printf("flags %x\n", flags);
    SHOW(cudaFreeHost(p));
    SHOW(cudaHostAlloc(&p, bytes, cudaHostAllocPortable));
    run("portable", p, n);
    SHOW(cudaFreeHost(p));
    p = (int *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pointer("plain", p);
    SHOW(cudaHostRegister(p, bytes, cudaHostRegisterDefault));
    run("registered", p, n);
    SHOW(cudaHostRegister(p, bytes, cudaHostRegisterDefault));
    SHOW(cudaHostUnregister(p));
    SHOW(cudaHostUnregister(p));
    // Not a whole page, and in the middle of the heap.
    std::vector<int> heap(n);
    SHOW(cudaHostRegister(heap.data() + 5, 1000, cudaHostRegisterMapped));
    SHOW(cudaHostGetDevicePointer(&d, heap.data() + 5, 0));
    SHOW(cudaHostUnregister(heap.data() + 5));
    SHOW(cudaHostAlloc(&p, bytes, 0x100));
    SHOW(cudaHostAlloc(nullptr, bytes, 0));
    SHOW(cudaHostRegister(nullptr, bytes, 0));
    SHOW(cudaHostRegister(heap.data(), 0, 0));
    SHOW(cudaFreeHost(nullptr));
    SHOW(cudaFreeHost(heap.data()));
    SHOW(cudaHostGetFlags(&flags, heap.data()));
    CK(cudaMalloc(&d, bytes));
    pointer("device", d);
    pointer("inside", d + 100);
    pointer("null", nullptr);
    CK(cudaFree(d));
    pointer("freed", d);
    return 0;
}
