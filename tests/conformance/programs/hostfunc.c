// SPDX-License-Identifier: Apache-2.0
/* Host functions in streams: their order, their thread, and what they must not do. */
#include <pthread.h>
#include <unistd.h>

#include "common.h"
#include "release.h"

KERNELS(basics);

#define MANY 1000
#define BEHIND 3000

static CUcontext context;
static CUfunction write_to;

/* ---- order ---- */

struct step {
    volatile int *seen; /* pinned */
    int expected, found;
};

static void look(void *data) {
    struct step *s = data;

    s->found = *s->seen;
}

static void set_41(void *data) {
    usleep(20000);
    *(volatile int *)data = 41;
}

static void order(CUstream stream, const char *name) {
    struct step a = {0}, b = {0};
    CUdeviceptr d;
    int *host;

    CK(cuMemAllocHost((void **)&host, 8));
    CK(cuMemAlloc(&d, 4));
    host[0] = 0;
    a.seen = b.seen = host;
    CK(cuMemsetD32Async(d, 5, 1, stream));
    CK(cuMemcpyDtoHAsync(host, d, 4, stream));
    CK(cuLaunchHostFunc(stream, look, &a));
    CK(cuMemsetD32Async(d, 6, 1, stream));
    CK(cuMemcpyDtoHAsync(host, d, 4, stream));
    CK(cuLaunchHostFunc(stream, look, &b));
    CK(cuLaunchHostFunc(stream, set_41, host));
    CK(cuMemcpyHtoDAsync(d, host, 4, stream));
    CK(cuMemcpyDtoHAsync(host + 1, d, 4, stream));
    CK(cuStreamSynchronize(stream));
    printf("%s: saw %d, then %d; the copy behind it took %d\n", name, a.found, b.found, host[1]);
    CK(cuMemFree(d));
    CK(cuMemFreeHost(host));
}

/* ---- calls inside ---- */

static void calls_inside(void *unused) {
    CUdeviceptr d = 0;
    CUcontext c;
    CUdevice device;
    CUevent e;
    const char *text;
    size_t bytes, total;
    int n;

    (void)unused;
    SHOW(cuMemAlloc(&d, 4));
    SHOW(cuMemGetInfo(&bytes, &total));
    SHOW(cuStreamQuery(NULL));
    SHOW(cuStreamSynchronize(NULL));
    SHOW(cuCtxSynchronize());
    SHOW(cuCtxGetCurrent(&c));
    SHOW(cuCtxSetCurrent(context));
    SHOW(cuCtxGetDevice(&device));
    SHOW(cuDeviceGetCount(&n));
    SHOW(cuDriverGetVersion(&n));
    SHOW(cuDeviceGet(&device, 0));
    SHOW(cuEventCreate(&e, 0));
    SHOW(cuLaunchHostFunc(NULL, calls_inside, NULL));
    SHOW(cuGetErrorName(CUDA_ERROR_NOT_PERMITTED, &text));
    SHOW(cuInit(0));
}

/* ---- threads ---- */

static pthread_t ran_on[2];

static void note_thread(void *data) {
    *(pthread_t *)data = pthread_self();
}

/* ---- many ---- */

static int count;

static void add_one(void *data) {
    (void)data;
    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
}

static void many(CUstream *streams, int n) {
    count = 0;
    for (int i = 0; i < MANY; i++)
        CK(cuLaunchHostFunc(streams[i % n], add_one, NULL));
    for (int i = 0; i < n; i++)
        CK(cuStreamSynchronize(streams[i]));
    printf("%d of %d ran\n", count, MANY);
}

/* ---- a function that takes long ---- */

static void others_go_on(CUstream blocked, CUstream other, CUdeviceptr d) {
    CUevent before, after;
    int value = 0;

    released = 0;
    CK(cuEventCreate(&before, 0));
    CK(cuEventCreate(&after, 0));
    CK(cuEventRecord(before, blocked));
    CK(cuEventSynchronize(before));
    CK(cuLaunchHostFunc(blocked, wait_for_release, NULL));
    CK(cuEventRecord(after, blocked));
    for (int i = 0; i < 20; i++) {
        CK(cuMemsetD32Async(d, (unsigned int)i, 1, other));
        CK(cuMemcpyDtoHAsync(&value, d, 4, other));
        CK(cuStreamSynchronize(other));
    }
    printf("another stream went on: %d\n", value);
    SHOW(cuStreamQuery(blocked));
    SHOW(cuEventQuery(after));
    SHOW(cuStreamQuery(other));
    released = 1;
    SHOW(cuEventSynchronize(after));
    SHOW(cuStreamQuery(blocked));
    CK(cuEventDestroy(before));
    CK(cuEventDestroy(after));
}

/* More behind it than a stream's queue takes: the launches wait, the function must still run. */
static void full_queue(CUstream stream, CUdeviceptr d) {
    void *args[] = {&d};
    pthread_t thread;

    released = 0;
    pthread_create(&thread, NULL, release_later, NULL);
    CK(cuLaunchHostFunc(stream, wait_for_release, NULL));
    for (int i = 0; i < BEHIND; i++)
        CK(cuLaunchKernel(write_to, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    SHOW(cuStreamSynchronize(stream));
    pthread_join(thread, NULL);
}

static void wrong_arguments(CUstream stream) {
    SHOW(cuLaunchHostFunc(stream, NULL, NULL));
    SHOW(cuLaunchHostFunc((CUstream)0x1234560, add_one, NULL));
    CK(cuStreamDestroy(stream));
    CK(cuCtxSetCurrent(NULL));
    SHOW(cuLaunchHostFunc(NULL, add_one, NULL));
    CK(cuCtxSetCurrent(context));
}

int main(void) {
    CUstream streams[4];
    CUdeviceptr d;

    context = start();
    write_to = function(module(ptx_basics), "write_to");
    CK(cuMemAlloc(&d, 4));
    for (int i = 0; i < 4; i++)
        CK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    order(streams[0], "a stream");
    order(NULL, "the default stream");
    order(CU_STREAM_LEGACY, "the legacy stream");
    order(CU_STREAM_PER_THREAD, "the thread's stream");
    CK(cuLaunchHostFunc(streams[0], calls_inside, NULL));
    CK(cuStreamSynchronize(streams[0]));
    CK(cuLaunchHostFunc(streams[0], note_thread, &ran_on[0]));
    CK(cuLaunchHostFunc(streams[1], note_thread, &ran_on[1]));
    CK(cuCtxSynchronize());
    printf("runs on the caller's thread: %d; both on one: %d\n",
           pthread_equal(ran_on[0], pthread_self()) != 0, pthread_equal(ran_on[0], ran_on[1]) != 0);
    many(streams, 4);
    others_go_on(streams[0], streams[1], d);
    full_queue(streams[0], d);
    wrong_arguments(streams[3]);
    return 0;
}
