// SPDX-License-Identifier: Apache-2.0
/* nvcc: -default-stream per-thread */
/* Threads that each use their own default stream. */
#include "common.cuh"

#include <pthread.h>

#define THREADS 16
#define N 5000

__global__ void scale(int *v, int factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < N)
        v[i] = v[i] * factor + i;
}

static void *thread(void *arg) {
    int id = (int)(intptr_t)arg;
    std::vector<int> v(N, id), back(N);
    int *d;
    intptr_t sum = 0;

    CK(cudaMalloc(&d, N * sizeof(int)));
    for (int round = 0; round < 50; round++) {
        CK(cudaMemcpyAsync(d, v.data(), N * sizeof(int), cudaMemcpyHostToDevice));
        scale<<<(N + 127) / 128, 128>>>(d, round + 1);
        CK(cudaMemcpyAsync(back.data(), d, N * sizeof(int), cudaMemcpyDeviceToHost));
        CK(cudaStreamSynchronize(0));
        sum += back[N - 1] + back[round];
    }
    // A wrong call of one thread is not the other's error.
    if (id % 2)
        cudaFree((void *)0x77);
    if (cudaGetLastError() != (id % 2 ? cudaErrorInvalidValue : cudaSuccess))
        sum = -1;
    CK(cudaFree(d));
    return (void *)sum;
}

int main() {
    pthread_t t[THREADS];
    void *sum;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], nullptr, thread, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], &sum);
        printf("thread %d: %ld\n", i, (long)(intptr_t)sum);
    }
    SHOW(cudaGetLastError());
    return 0;
}
