// SPDX-License-Identifier: Apache-2.0
/*
 * Waits that follow their work at once, in every kind of stream: what the GPU wrote before is there
 * after them, however short or long it took, and so is what went wrong.
 */
#include <pthread.h>

#include "common.h"

KERNELS(basics);

#define ROUNDS 2000
#define COUNT 64

static CUcontext context;
static CUfunction fill_index, wait_for, write_to;
static volatile int *seen; /* pinned: the GPU writes there itself */
static volatile int *flag;
static CUdeviceptr device;

/* Fills pinned memory, waits, looks. */
static int filled(CUstream stream, int base) {
    int n = COUNT, right = 0;
    void *to = (void *)seen, *args[] = {&to, &n, &base};

    CK(cuLaunchKernel(fill_index, 1, 1, 1, COUNT, 1, 1, 0, stream, args, NULL));
    CK(cuStreamSynchronize(stream));
    for (int i = 0; i < COUNT; i++)
        right += seen[i] == base + i;
    return right == COUNT;
}

static void fill_often(const char *what, CUstream stream) {
    int right = 0;

    for (int i = 0; i < ROUNDS; i++)
        right += filled(stream, 10 * i);
    printf("%s: %d of %d\n", what, right, ROUNDS);
}

/* The same after work that the wait has to wait for, and after none. */
static void copies(CUstream stream) {
    int right = 0;

    for (int i = 0; i < ROUNDS; i++) {
        seen[0] = i;
        CK(cuMemcpyHtoDAsync(device, (void *)seen, 4, stream));
        CK(cuMemcpyDtoHAsync((void *)&seen[1], device, 4, stream));
        CK(cuStreamSynchronize(stream));
        CK(cuStreamSynchronize(stream));
        right += seen[1] == i;
    }
    printf("copies: %d of %d\n", right, ROUNDS);
}

static void *release(void *unused) {
    usleep(50000);
    *flag = 1;
    return unused;
}

/* Longer than anybody looks without sleeping. */
static void long_work(CUstream stream) {
    void *args[] = {(void *)&flag};
    pthread_t thread;

    *flag = 0;
    pthread_create(&thread, NULL, release, NULL);
    CK(cuLaunchKernel(wait_for, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    CK(cuStreamSynchronize(stream));
    printf("released: %d\n", *flag);
    pthread_join(thread, NULL);
}

/* A stream of its own, and every thread fills its part. */
static void *fill_beside(void *ok) {
    int n = COUNT, right = 0;
    CUdeviceptr own;
    CUstream stream;
    int got[COUNT];

    CK(cuCtxSetCurrent(context));
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CK(cuMemAlloc(&own, sizeof(got)));
    for (int base = 0; base < ROUNDS / 10; base++) {
        void *args[] = {&own, &n, &base};

        CK(cuLaunchKernel(fill_index, 1, 1, 1, COUNT, 1, 1, 0, stream, args, NULL));
        CK(cuStreamSynchronize(stream));
        CK(cuMemcpyDtoH(got, own, sizeof(got)));
        right += got[0] == base && got[COUNT - 1] == base + COUNT - 1;
    }
    *(int *)ok = right;
    return NULL;
}

static void threads(void) {
    pthread_t thread[4];
    int ok[4] = {0};

    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, fill_beside, &ok[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    printf("threads: %d %d %d %d of %d\n", ok[0], ok[1], ok[2], ok[3], ROUNDS / 10);
}

/* What the GPU cannot do it does not say it has done. */
static void fault(CUstream stream) {
    CUdeviceptr bad = 0x10000;
    void *args[] = {&bad};

    CK(cuLaunchKernel(write_to, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    SHOW(cuStreamSynchronize(stream));
    SHOW(cuStreamSynchronize(stream));
}

int main(void) {
    CUstream plain, beside;

    context = start();
    CUmodule m = module(ptx_basics);
    fill_index = function(m, "fill_index");
    wait_for = function(m, "wait_for");
    write_to = function(m, "write_to");
    CK(cuMemHostAlloc((void **)&seen, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    CK(cuMemHostAlloc((void **)&flag, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    CK(cuMemAlloc(&device, 4096));
    fill_often("default stream, the only one", NULL);
    CK(cuStreamCreate(&plain, CU_STREAM_DEFAULT));
    CK(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
    fill_often("default stream", NULL);
    fill_often("a stream", plain);
    fill_often("a stream beside the default one", beside);
    fill_often("the thread's stream", CU_STREAM_PER_THREAD);
    copies(beside);
    long_work(plain);
    long_work(NULL);
    threads();
    fault(beside);
    return 0;
}
