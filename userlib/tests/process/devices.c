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

/* ---- copies between contexts ---- */

/* Memory of a context whose default stream can be held up. */
struct side {
    CUcontext context;
    CUdeviceptr memory;
};

static void make_side(struct side *s, CUdevice dev) {
    CK(cuCtxCreate(&s->context, NULL, 0, dev));
    CK(cuMemAlloc(&s->memory, 64));
}

/* Fills it, and does not wait for that; held: not before the program may go on. */
static void fill_side(const struct side *s, unsigned char value, bool held) {
    CK(cuCtxSetCurrent(s->context));
    if (held) {
        may_go_on = false;
        CK(cuLaunchHostFunc(NULL, wait_to_go_on, NULL));
    }
    CK(cuMemsetD8Async(s->memory, value, 64, NULL));
    if (!held)
        CK(cuCtxSynchronize());
}

static void copy_bytes(const struct side *dst, const struct side *src) {
    CK(cuMemcpyPeer(dst->memory, dst->context, src->memory, src->context, 64));
}

static void copy_rows(const struct side *dst, const struct side *src) {
    CUDA_MEMCPY3D_PEER c = {
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = dst->memory,
        .dstContext = dst->context,
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = src->memory,
        .srcContext = src->context,
        .WidthInBytes = 64,
        .Height = 1,
        .Depth = 1,
    };

    CK(cuMemcpy3DPeer(&c));
}

/*
 * `busy` is held up, and fills its memory then; the copy is made while `maker` is current, and what
 * it brought is read in its target's default stream, by nobody who waited for it.
 */
static void copy_in_order(void (*copy)(const struct side *, const struct side *),
                          const struct side *dst, const struct side *src, const struct side *busy,
                          const struct side *maker) {
    char *got;

    CK(cuMemHostAlloc((void **)&got, 64, CU_MEMHOSTALLOC_PORTABLE));
    *got = 0;
    fill_side(dst, 1, false);
    fill_side(src, 2, false);
    fill_side(busy, 3, true);
    CK(cuCtxSetCurrent(maker->context));
    copy(dst, src);
    CK(cuCtxSetCurrent(dst->context));
    CK(cuMemcpyDtoHAsync(got, dst->memory, 1, NULL));
    usleep(5000); /* what does not wait for the copy is done by then */
    may_go_on = true;
    CK(cuStreamSynchronize(NULL));
    EXPECT(*got == (busy == src ? 3 : 2));
    CK(cuMemFreeHost(got));
}

/* They come after what both default streams were given before, and before what they are given next.
 */
static int case_peer_order(void) {
    static void (*const copies[])(const struct side *, const struct side *) = {copy_bytes,
                                                                               copy_rows};
    struct side sides[3];

    CK(cuInit(0));
    for (int i = 0; i < 3; i++)
        make_side(&sides[i], i % 2);
    for (int i = 0; i < 2; i++) {
        for (int busy = 0; busy < 3; busy++) {
            for (int maker = 0; maker < 3; maker++)
                copy_in_order(copies[i], &sides[0], &sides[1], &sides[busy == 2 ? maker : busy],
                              &sides[maker]);
        }
    }
    return 0;
}

static const struct process_case cases[] = {
    {"fault-elsewhere", case_fault_elsewhere},
    {"ends-after-fault", case_ends_after_fault},
    {"primaries-apart", case_primaries_apart},
    {"peer-order", case_peer_order},
    {0},
};

int main(int argc, char **argv) {
    return run_case(cases, argc, argv);
}
