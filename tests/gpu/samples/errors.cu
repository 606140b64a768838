// SPDX-License-Identifier: Apache-2.0
/* Wrong launches and arguments: which error comes, which stays, which goes. */
#include "common.cuh"

__global__ void nothing() {}

__global__ void many(int *v, int a, int b) {
    if (v)
        *v = a + b;
}

static void last(const char *what) {
    cudaError_t peeked = cudaPeekAtLastError(), got = cudaGetLastError();

    printf("%s: %s %s then %s\n", what, cudaGetErrorName(peeked), cudaGetErrorName(got),
           cudaGetErrorName(cudaGetLastError()));
}

int main() {
    void *p, *args[3] = {};
    cudaStream_t s;

    last("start");
    nothing<<<0, 1>>>();
    last("no blocks");
    nothing<<<1, 0>>>();
    last("no threads");
    nothing<<<1, 1025>>>();
    last("too many threads");
    nothing<<<1, dim3(1, 1, 65)>>>();
    last("too deep");
    nothing<<<dim3(1, 65536), 1>>>();
    last("too high");
    nothing<<<1, 1, 1 << 20>>>();
    last("too much shared");
    nothing<<<1 << 18, 1>>>();
    last("many blocks");
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaLaunchKernel(nullptr, 1, 1, args, 0, 0));
    SHOW(cudaLaunchKernel((void *)&s, 1, 1, args, 0, 0));
    last("no function");
    SHOW(cudaMalloc(&p, (size_t)1 << 50));
    last("too large");
    SHOW(cudaMalloc(&p, 0));
    printf("nothing is null %d\n", p == nullptr);
    SHOW(cudaMalloc((void **)nullptr, 10));
    SHOW(cudaFree(nullptr));
    SHOW(cudaFree((void *)0x10));
    SHOW(cudaFree(&s));
    last("free");
    SHOW(cudaMalloc(&p, 100));
    SHOW(cudaFree((char *)p + 4));
    SHOW(cudaFree(p));
    SHOW(cudaFree(p));
    last("twice");
    // An error in the queue of one call does not stop the next.
    nothing<<<0, 1>>>();
    SHOW(cudaStreamCreate(&s));
    last("after a good call");
    nothing<<<1, 0, 0, s>>>();
    SHOW(cudaStreamSynchronize(s));
    last("after a wrong launch");
    SHOW(cudaStreamDestroy(s));
    for (int e : {0, 1, 2, 98, 101, 200, 400, 600, 700, 719, 999, 12345})
        printf("%d %s: %s\n", e, cudaGetErrorName((cudaError_t)e),
               cudaGetErrorString((cudaError_t)e));
    return 0;
}
