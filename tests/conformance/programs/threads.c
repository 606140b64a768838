// SPDX-License-Identifier: Apache-2.0
/* usage: threads [N]   Threads that call at once; one of them blocked for as long as it takes. */
#include <pthread.h>

#include "common.h"

KERNELS(basics);
KERNELS(vector_add);

#define ROUNDS 30
#define LENGTH 3000
#define STREAMS 8

static CUcontext context;
static CUfunction add;
static volatile int *flag;
static CUstream blocked_stream;
/* Few, shared and made early: a GPU has so many queues, and a full one waits for the long kernel.
 */
static CUstream streams[STREAMS];

static void *blocked(void *unused) {
    CK(cuCtxSetCurrent(context));
    CK(cuStreamSynchronize(blocked_stream));
    return unused;
}

static void *worker(void *arg) {
    long id = (long)arg, wrong = 0;
    float a[LENGTH], c[LENGTH];
    size_t bytes = sizeof(a);
    int n = LENGTH;
    CUdeviceptr da, dc;
    CUstream s = streams[id % STREAMS];
    CUevent e;

    CK(cuCtxSetCurrent(context));
    CK(cuEventCreate(&e, 0));
    CK(cuMemAlloc(&da, bytes));
    CK(cuMemAlloc(&dc, bytes));
    for (int round = 0; round < ROUNDS; round++) {
        void *args[] = {&da, &da, &dc, &n};

        for (int i = 0; i < n; i++)
            a[i] = (float)(id * 1000 + round + i);
        CK(cuMemcpyHtoDAsync(da, a, bytes, s));
        CK(cuLaunchKernel(add, (LENGTH + 127) / 128, 1, 1, 128, 1, 1, 0, s, args, NULL));
        CK(cuEventRecord(e, s));
        CK(cuEventSynchronize(e));
        CK(cuMemcpyDtoHAsync(c, dc, bytes, s));
        CK(cuStreamSynchronize(s));
        for (int i = 0; i < n; i++)
            wrong += c[i] != 2 * a[i];
    }
    CK(cuEventDestroy(e));
    return (void *)wrong;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 64;
    pthread_t threads[256], sleeper;
    long wrong = 0;

    if (count > 256)
        count = 256;
    context = start();
    add = function(module(ptx_vector_add), "vector_add");
    CUfunction wait_for = function(module(ptx_basics), "wait_for");
    CK(cuMemHostAlloc((void **)&flag, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    *flag = 0;
    void *args[] = {&flag};
    for (int i = 0; i < STREAMS; i++)
        CK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    CK(cuStreamCreate(&blocked_stream, CU_STREAM_NON_BLOCKING));
    CK(cuLaunchKernel(wait_for, 1, 1, 1, 1, 1, 1, 0, blocked_stream, args, NULL));
    pthread_create(&sleeper, NULL, blocked, NULL);
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < count; i++) {
        void *w;

        pthread_join(threads[i], &w);
        wrong += (long)w;
    }
    printf("threads done while one is blocked: %s\n",
           cuStreamQuery(blocked_stream) == CUDA_ERROR_NOT_READY ? "yes" : "no");
    *flag = 1;
    pthread_join(sleeper, NULL);
    printf("rounds=%d wrong=%ld\n", ROUNDS, wrong);
    return wrong != 0;
}
