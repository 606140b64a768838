// SPDX-License-Identifier: Apache-2.0
/* usage: waits_many [N]   N threads wait for a context; what others ask for is done meanwhile. */
#include <pthread.h>
#include <unistd.h>

#include "common.h"

KERNELS(basics);

#define STREAMS 20

static CUcontext context;
static volatile int *flag;
static int ready;

static void *waiter(void *unused) {
    CK(cuCtxSetCurrent(context));
    __atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
    CK(cuCtxSynchronize());
    return unused;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 400, value = 0, *pinned;
    pthread_t *threads = calloc((size_t)count, sizeof(*threads));
    CUstream busy, streams[STREAMS];
    pthread_attr_t small;
    CUdeviceptr d;

    context = start();
    CUfunction wait_for = function(module(ptx_basics), "wait_for");
    CK(cuMemHostAlloc((void **)&flag, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    CK(cuMemAllocHost((void **)&pinned, 4));
    CK(cuMemAlloc(&d, 4));
    *flag = 0;
    void *args[] = {&flag};
    CK(cuStreamCreate(&busy, CU_STREAM_NON_BLOCKING));
    CK(cuLaunchKernel(wait_for, 1, 1, 1, 1, 1, 1, 0, busy, args, NULL));
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], &small, waiter, NULL)) {
            printf("no thread %d\n", i);
            return 1;
        }
    }
    while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < count)
        usleep(1000);
    usleep(100000);
    for (int i = 0; i < STREAMS; i++)
        CK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < STREAMS; i++) {
        CK(cuMemsetD32Async(d, (unsigned int)i, 1, streams[i]));
        CK(cuMemcpyDtoHAsync(pinned, d, 4, streams[i]));
        CK(cuStreamSynchronize(streams[i]));
        value += *pinned;
    }
    printf("done meanwhile: %d\n", value == STREAMS * (STREAMS - 1) / 2);
    printf("still running: %d\n", cuStreamQuery(busy) == CUDA_ERROR_NOT_READY);
    *flag = 1;
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("all waits ended\n");
    return 0;
}
