// SPDX-License-Identifier: Apache-2.0
/* Host memory goes while a stream copies into it, and another one is being captured. */
#include <pthread.h>

#include "common.h"
#include "release.h"

#define INTS 65536
#define BYTES (INTS * sizeof(int))

static CUstream copies, captured;
static CUdeviceptr x;

/* Captures, and copies meanwhile into p: once `released`. */
static void copy_later(int *p, pthread_t *release) {
    CK(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
    released = 0;
    pthread_create(release, NULL, release_later, NULL);
    CK(cuLaunchHostFunc(copies, wait_for_release, NULL));
    CK(cuMemcpyDtoHAsync(p, x, BYTES, copies));
}

static void end(pthread_t release) {
    CUgraph graph;

    CK(cuStreamSynchronize(copies));
    pthread_join(release, NULL);
    SHOW(cuStreamEndCapture(captured, &graph));
    CK(cuGraphDestroy(graph));
}

static int count(const int *p, int value) {
    int n = 0;

    for (int i = 0; i < INTS; i++)
        n += p[i] == value;
    return n;
}

static void pinned(void) {
    pthread_t release;
    int *p, *fresh;

    puts("-- pinned");
    CK(cuMemAllocHost((void **)&p, BYTES));
    copy_later(p, &release);
    SHOW(cuMemFreeHost(p));
    CK(cuMemAllocHost((void **)&fresh, BYTES));
    memset(fresh, 0, BYTES);
    end(release);
    printf("what was allocated then: %d as it was\n", count(fresh, 0));
    CK(cuMemFreeHost(fresh));
}

static void registered(void) {
    int *p = aligned_alloc(4096, BYTES);
    pthread_t release;

    puts("-- registered");
    memset(p, 0, BYTES);
    CK(cuMemHostRegister(p, BYTES, 0));
    copy_later(p, &release);
    SHOW(cuMemHostUnregister(p));
    end(release);
    printf("copied: %d\n", count(p, 7));
    free(p);
}

int main(void) {
    start();
    CK(cuMemAlloc(&x, BYTES));
    CK(cuMemsetD32(x, 7, INTS));
    CK(cuCtxSynchronize());
    CK(cuStreamCreate(&copies, CU_STREAM_NON_BLOCKING));
    CK(cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING));
    pinned();
    registered();
    SHOW(cuCtxSynchronize());
    return 0;
}
