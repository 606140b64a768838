// SPDX-License-Identifier: Apache-2.0
/* Frees while streams have work, and while they have none any more. */
#include <pthread.h>

#include "common.h"
#include "release.h"

#define STREAMS 40 /* more than a worker keeps in mind */

static CUcontext context;
/* ---- one that has something to do ---- */

static void *free_it(void *memory) {
    CK(cuCtxSetCurrent(context));
    SHOW(cuMemFree(*(CUdeviceptr *)memory));
    return NULL;
}

static void beside(const char *what, CUstream blocked, CUstream other) {
    pthread_t release, frees;
    CUdeviceptr freed, d;
    int value = 0;

    printf("%s\n", what);
    CK(cuMemAlloc(&freed, 1 << 20));
    CK(cuMemAlloc(&d, 4));
    released = 0;
    pthread_create(&release, NULL, release_later, NULL);
    CK(cuLaunchHostFunc(blocked, wait_for_release, NULL));
    pthread_create(&frees, NULL, free_it, &freed);
    for (int i = 0; i < 20; i++) {
        CK(cuMemsetD32Async(d, (unsigned int)i, 1, other));
        CK(cuMemcpyDtoHAsync(&value, d, 4, other));
        CK(cuStreamSynchronize(other));
    }
    pthread_join(frees, NULL);
    pthread_join(release, NULL);
    CK(cuStreamSynchronize(blocked));
    printf("another stream went on: %d\n", value);
    CK(cuMemFree(d));
}

/* ---- many that have nothing to do any more ---- */

static void in_turn(CUstream *streams, int n) {
    CUdeviceptr d, freed;
    int value = 0;

    CK(cuMemAlloc(&d, 4));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < n; i++) {
            CK(cuMemAlloc(&freed, 4096));
            CK(cuMemsetD32Async(freed, (unsigned int)i, 1024, streams[i]));
            CK(cuMemcpyDtoDAsync(d, freed + 4092, 4, streams[i]));
            CK(cuMemFree(freed));
            CK(cuMemcpyDtoH(&value, d, 4));
            if (value != i)
                printf("stream %d: %d\n", i, value);
        }
    }
    printf("each saw what it wrote before its memory went\n");
    CK(cuMemFree(d));
}

int main(void) {
    CUstream streams[STREAMS];
    CUdeviceptr d;

    context = start();
    CK(cuMemAlloc(&d, 4096));
    CK(cuMemFree(d));
    for (int i = 0; i < STREAMS; i++)
        CK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    beside("in a stream that was not called in before", streams[0], streams[1]);
    beside("again", streams[0], streams[1]);
    beside("in the thread's stream", CU_STREAM_PER_THREAD, streams[1]);
    in_turn(streams, 4);
    in_turn(streams, STREAMS);
    for (int i = 0; i < STREAMS; i++)
        CK(cuStreamDestroy(streams[i]));
    SHOW(cuMemAlloc(&d, 4096));
    SHOW(cuMemFree(d));
    SHOW(cuMemFree(d));
    return 0;
}
