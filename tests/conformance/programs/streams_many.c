// SPDX-License-Identifier: Apache-2.0
/*
 * More streams than the GPU has queues, made while a kernel runs: the driver may wait for it in the
 * thread that makes them. No other thread waits.
 */
#include <pthread.h>

#include "common.h"

KERNELS(basics);

#define STREAMS 64
#define ROUNDS 50

static CUcontext context;
static CUstream made[STREAMS];
static volatile int *flag;

static void *maker(void *unused) {
    CK(cuCtxSetCurrent(context));
    for (int i = 0; i < STREAMS; i++)
        CK(cuStreamCreate(&made[i], CU_STREAM_NON_BLOCKING));
    return unused;
}

struct mover {
    CUstream stream;
    CUdeviceptr memory;
    int *host; /* pinned */
};

static void *mover(void *arg) {
    struct mover *m = arg;
    long wrong = 0;

    CK(cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        CK(cuMemsetD32Async(m->memory, (unsigned int)i, 1, m->stream));
        CK(cuMemcpyDtoHAsync(m->host, m->memory, 4, m->stream));
        CK(cuStreamSynchronize(m->stream));
        wrong += *m->host != i;
    }
    return (void *)wrong;
}

int main(void) {
    struct mover m;
    pthread_t making, moving;
    CUstream busy;
    void *wrong;
    int good = 0;

    context = start();
    CUfunction wait_for = function(module(ptx_basics), "wait_for");
    CK(cuMemHostAlloc((void **)&flag, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    *flag = 0;
    CK(cuMemAllocHost((void **)&m.host, 4096));
    CK(cuMemAlloc(&m.memory, 4096));
    CK(cuStreamCreate(&m.stream, CU_STREAM_NON_BLOCKING));
    CK(cuStreamCreate(&busy, CU_STREAM_NON_BLOCKING));
    void *args[] = {&flag};
    CK(cuLaunchKernel(wait_for, 1, 1, 1, 1, 1, 1, 0, busy, args, NULL));
    pthread_create(&making, NULL, maker, NULL);
    pthread_create(&moving, NULL, mover, &m);
    pthread_join(moving, &wrong);
    printf("copies while streams are made: wrong=%ld\n", (long)wrong);
    *flag = 1;
    pthread_join(making, NULL);
    CK(cuStreamSynchronize(busy));
    for (int i = 0; i < STREAMS; i++) {
        CK(cuMemsetD32Async(m.memory, 7u + (unsigned int)i, 1, made[i]));
        CK(cuMemcpyDtoHAsync(m.host, m.memory, 4, made[i]));
        CK(cuStreamSynchronize(made[i]));
        good += *m.host == 7 + i;
        CK(cuStreamDestroy(made[i]));
    }
    printf("streams that work: %d\n", good);
    return 0;
}
