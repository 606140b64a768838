// SPDX-License-Identifier: Apache-2.0
/* Faults of kernels: each in a process of its own; the error stays; the next process works. */
#include "common.cuh"

#include <sys/wait.h>
#include <unistd.h>

__global__ void bad_address(int *p) {
    *p = 1;
}

__global__ void misaligned(char *p) {
    *(int *)(p + 1) = 1;
}

__global__ void trap() {
    asm("trap;");
}

__global__ void good(int *p) {
    *p = 42;
}

static int child(int kind) {
    int *d, *after, v = 0;
    cudaEvent_t e;
    cudaStream_t s;

    CK(cudaMalloc(&d, 64));
    CK(cudaEventCreate(&e));
    CK(cudaStreamCreate(&s));
    if (kind == 0)
        bad_address<<<1, 1, 0, s>>>((int *)0x10);
    else if (kind == 1)
        misaligned<<<1, 1, 0, s>>>((char *)d);
    else if (kind == 2)
        trap<<<1, 1, 0, s>>>();
    else
        good<<<1, 1, 0, s>>>(d);
    SHOW(cudaGetLastError());
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaMalloc(&after, 64));
    SHOW(cudaMemcpy(&v, d, 4, cudaMemcpyDeviceToHost));
    printf("value %d\n", v);
    SHOW(cudaEventRecord(e, s));
    good<<<1, 1>>>(d);
    SHOW(cudaGetLastError());
    if (kind != 3)
        SHOW(cudaStreamQuery(s));
    SHOW(cudaFree(d));
    SHOW(cudaEventDestroy(e));
    SHOW(cudaStreamDestroy(s));
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaPeekAtLastError());
    SHOW(cudaDeviceReset());
    SHOW(cudaMalloc(&d, 64));
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    return 0;
}

int main() {
    for (int kind : {3, 0, 3, 1, 2, 3}) {
        printf("kind %d\n", kind);
        pid_t p = fork();
        int status;

        if (!p)
            exit(child(kind));
        waitpid(p, &status, 0);
        printf("ended %d\n", status);
    }
    return 0;
}
