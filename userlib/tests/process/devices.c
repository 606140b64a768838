// SPDX-License-Identifier: Apache-2.0
/*
 * usage: devices CASE   One program of the tests in ./run that needs two devices: does what its
 * case says, and exits with 0 if all calls gave what they must. Natively it must do so, too.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include "cases.h"
#include "common.h"

KERNELS(basics);

/* A context of a device, which has a kernel that writes. */
struct place {
    CUcontext context;
    CUfunction write_to;
    CUstream stream;
};

static void make_place(struct place *p, CUdevice dev) {
    CK(cuInit(0));
    CK(cuCtxCreate(&p->context, NULL, 0, dev));
    p->write_to = function(module(ptx_basics), "write_to");
    CK(cuStreamCreate(&p->stream, CU_STREAM_NON_BLOCKING));
}

/* In the context, which is current. */
static CUresult write_at(const struct place *p, CUdeviceptr at) {
    void *args[] = {&at};

    return cuLaunchKernel(p->write_to, 1, 1, 1, 1, 1, 1, 0, p->stream, args, NULL);
}

/* The context is current, and works. */
static void works(const struct place *p) {
    CUdeviceptr good;
    int value;

    CK(cuMemAlloc(&good, sizeof(value)));
    CK(write_at(p, good));
    CK(cuStreamSynchronize(p->stream));
    CK(cuMemcpyDtoH(&value, good, sizeof(value)));
    EXPECT(value == 1);
    CK(cuMemFree(good));
}

/* A kernel of the context, which is current, is about to fault: any call may tell of it. */
static void begin_fault(const struct place *p) {
    CK(write_at(p, 0x10000));
}

/* Who waits for another context's stream hears of its fault, and works on in his own. */
static int case_fault_elsewhere(void) {
    struct place here, there;

    make_place(&here, 0);
    make_place(&there, 1);
    begin_fault(&there);
    CK(cuCtxSetCurrent(here.context));
    EXPECT(cuStreamSynchronize(there.stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
    works(&here);
    EXPECT(cuStreamQuery(there.stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
    works(&here);
    CK(cuCtxSetCurrent(there.context));
    EXPECT(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT(write_at(&there, 0) == CUDA_ERROR_ILLEGAL_ADDRESS);
    CK(cuCtxSetCurrent(here.context));
    works(&here);
    return 0;
}

/* What ends in a context after its fault leaves its names for others. */
static int case_ends_after_fault(void) {
    enum { COUNT = 4 };
    struct place here, there;
    CUevent events[COUNT];
    CUstream streams[COUNT];

    make_place(&here, 0);
    make_place(&there, 1);
    for (int i = 0; i < COUNT; i++) {
        CK(cuEventCreate(&events[i], 0));
        CK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    }
    begin_fault(&there);
    /* The first of each while only the GPU knows. */
    cuEventDestroy(events[0]);
    cuStreamDestroy(streams[0]);
    EXPECT(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
    for (int i = 1; i < COUNT; i++) {
        EXPECT(cuEventDestroy(events[i]) == CUDA_ERROR_ILLEGAL_ADDRESS);
        EXPECT(cuStreamDestroy(streams[i]) == CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    CK(cuCtxSetCurrent(here.context));
    for (int i = 0; i < COUNT; i++) {
        CK(cuEventCreate(&events[i], 0));
        CK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        CK(cuEventRecord(events[i], streams[i]));
        CK(cuEventSynchronize(events[i]));
    }
    works(&here);
    return 0;
}

static atomic_bool released_by_now, may_go_on;

static void wait_to_go_on(void *unused) {
    (void)unused;
    while (!may_go_on)
        usleep(1000);
}

static void *use_other_device(void *unused) {
    unsigned int flags;
    CUcontext c;
    int active;

    usleep(200000); /* the other thread is in its call by then */
    EXPECT(!released_by_now);
    CK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    EXPECT(active);
    CK(cuDevicePrimaryCtxRetain(&c, 1));
    CK(cuDevicePrimaryCtxRelease(1));
    EXPECT(!released_by_now);
    may_go_on = true;
    return unused;
}

/* A primary context's end waits for the GPU, which waits for one who uses another device's. */
static int case_primaries_apart(void) {
    pthread_t thread;
    CUcontext other;
    CUstream s;

    start();
    CK(cuDevicePrimaryCtxRetain(&other, 1));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CK(cuLaunchHostFunc(s, wait_to_go_on, NULL));
    EXPECT(!pthread_create(&thread, NULL, use_other_device, NULL));
    CK(cuDevicePrimaryCtxRelease(0));
    released_by_now = true;
    EXPECT(may_go_on);
    pthread_join(thread, NULL);
    return 0;
}

static const struct process_case cases[] = {
    {"fault-elsewhere", case_fault_elsewhere},
    {"ends-after-fault", case_ends_after_fault},
    {"primaries-apart", case_primaries_apart},
    {0},
};

int main(int argc, char **argv) {
    return run_case(cases, argc, argv);
}
