// SPDX-License-Identifier: Apache-2.0
/*
 * The kernels that the checks run. kernels.ptx, which is what they load, comes from this file by
 *     nvcc -ptx -arch=compute_75 -o kernels.ptx kernels.cu
 * and is committed, so that no nvcc is needed.
 */
#include <cassert>
#include <cstdio>

__device__ int counter = 7;
__constant__ int table[4] = {1, 2, 3, 4};

extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        c[i] = a[i] + b[i];
}

/* Goes on until the host writes to *gate. */
extern "C" __global__ void wait_for(const volatile int *gate) {
    while (*gate == 0)
        ;
}

/* Waits for the gate, then appends its number. */
extern "C" __global__ void append(const volatile int *gate, int *log, int number) {
    while (*gate == 0)
        ;
    log[1 + log[0]] = number;
    log[0]++;
}

extern "C" __global__ void store(int *address, int value) {
    *address = value;
}

extern "C" __global__ void give_up(void) {
    __trap();
}

extern "C" __global__ void insist(int value) {
    assert(value == 1);
}

extern "C" __global__ void say(int value) {
    printf("kernel says %d from %d\n", value, (int)threadIdx.x);
}

/* Reverses 32 numbers through dynamic shared memory. */
extern "C" __global__ void reverse(int *data) {
    extern __shared__ int shared[];

    shared[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void count(int *out) {
    atomicAdd(&counter, table[threadIdx.x & 3]);
    if (threadIdx.x == 0)
        *out = counter;
}

extern "C" __global__ void __launch_bounds__(64) bounded(int *out) {
    *out = blockDim.x;
}

struct three {
    char c;
    double d;
    short s;
};

extern "C" __global__ void take(char c, struct three t, long l, double *out) {
    *out = c + t.c + t.d + t.s + l;
}
