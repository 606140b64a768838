// SPDX-License-Identifier: Apache-2.0
/*
 * usage: copies CASE   One program of the tests in ./run that copies and fills: does what its case
 * says, and exits with 0 if all calls gave what they must. Natively it must do so, too.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "cases.h"
#include "common.h"

#define BYTES ((size_t)4096)
#define MIB ((size_t)1 << 20)

static CUcontext context;
static CUdeviceptr device, managed[2];
static char *pinned[2];

static void make_memory(void) {
    context = start();
    CK(cuMemAlloc(&device, BYTES));
    for (int i = 0; i < 2; i++) {
        CK(cuMemAllocManaged(&managed[i], BYTES, CU_MEM_ATTACH_GLOBAL));
        CK(cuMemAllocHost((void **)&pinned[i], BYTES));
    }
}

static atomic_bool may_go_on;

static void hold(void *unused) {
    (void)unused;
    while (!may_go_on)
        usleep(500);
}

/* ---- calls that wait ---- */

static void *let_go_later(void *unused) {
    usleep(20000); /* a call that does not wait has long returned */
    may_go_on = true;
    return unused;
}

/* What the default stream is given next runs later, if nobody waits for it. */
static pthread_t hold_for_a_while(void) {
    pthread_t thread;

    CK(cuCtxSynchronize());
    may_go_on = false;
    CK(cuLaunchHostFunc(NULL, hold, NULL));
    EXPECT(!pthread_create(&thread, NULL, let_go_later, NULL));
    return thread;
}

/* The program reads `at` right after the call. */
#define WAITS(at, wanted, call)                                                                    \
    do {                                                                                           \
        pthread_t thread_;                                                                         \
        *(volatile char *)(at) = 0;                                                                \
        thread_ = hold_for_a_while();                                                              \
        CK(call);                                                                                  \
        EXPECT(*(volatile char *)(at) == (wanted));                                                \
        pthread_join(thread_, NULL);                                                               \
    } while (0)

/* A copy out of what the program sees: it may write there right after the call. */
static void source_is_free(CUdeviceptr from) {
    pthread_t thread;
    char got = 0;

    *(volatile char *)from = 3;
    thread = hold_for_a_while();
    CK(cuMemcpyDtoD(device, from, 64));
    *(volatile char *)from = 4;
    pthread_join(thread, NULL);
    CK(cuMemcpyDtoH(&got, device, 1));
    EXPECT(got == 3);
}

/* The synchronous calls wait where the program sees the memory, whatever their names say. */
static int case_seen(void) {
    make_memory();
    for (int i = 0; i < 2; i++) {
        CUdeviceptr seen = i ? managed[0] : (CUdeviceptr)pinned[0];
        CUdeviceptr other = i ? managed[1] : (CUdeviceptr)pinned[1];

        CK(cuMemsetD8(device, 7, 64));
        WAITS(seen, 7, cuMemcpyDtoD(seen, device, 64));
        WAITS(seen, 7, cuMemcpyPeer(seen, context, device, context, 64));
        *(volatile char *)other = 8;
        WAITS(seen, 8, cuMemcpyDtoD(seen, other, 64));
        WAITS(seen, 8, cuMemcpyPeer(seen, context, other, context, 64));
        source_is_free(seen);
        WAITS(seen, 9, cuMemsetD8(seen, 9, 64));
        WAITS(seen, 10, cuMemsetD2D8(seen, 64, 10, 32, 4));
        WAITS(seen, 11, cuMemsetD2D16(seen, 64, 11, 16, 4));
        WAITS(seen, 12, cuMemsetD2D32(seen, 64, 12, 8, 4));
    }
    return 0;
}

/* ---- copies within the host ---- */

static CUstream held;

/* Uses the GPU, and then lets the copy beside it go on. */
static void *make_calls(void *unused) {
    CUstream other;
    char got = 0;

    CK(cuCtxSetCurrent(context));
    CK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    usleep(20000); /* the other thread is in its call by then */
    CK(cuMemsetD8Async(device, 6, 64, other));
    CK(cuStreamSynchronize(other));
    CK(cuMemcpyDtoHAsync(&got, device, 1, other));
    EXPECT(got == 6);
    may_go_on = true;
    return unused;
}

static void beside(CUresult (*copy)(CUdeviceptr dst, CUdeviceptr src), CUdeviceptr dst,
                   CUdeviceptr src) {
    pthread_t thread;

    *(char *)src = 5;
    *(char *)dst = 0;
    may_go_on = false;
    CK(cuLaunchHostFunc(held, hold, NULL));
    EXPECT(!pthread_create(&thread, NULL, make_calls, NULL));
    CK(copy(dst, src));
    CK(cuStreamSynchronize(held));
    EXPECT(*(char *)dst == 5);
    pthread_join(thread, NULL);
}

static CUresult up(CUdeviceptr dst, CUdeviceptr src) {
    return cuMemcpyHtoDAsync(dst, (const void *)src, 64, held);
}

static CUresult down(CUdeviceptr dst, CUdeviceptr src) {
    return cuMemcpyDtoHAsync((void *)dst, src, 64, held);
}

static CUresult across(CUdeviceptr dst, CUdeviceptr src) {
    return cuMemcpyDtoDAsync(dst, src, 64, held);
}

static CUresult anyhow(CUdeviceptr dst, CUdeviceptr src) {
    return cuMemcpyAsync(dst, src, 64, held);
}

static CUresult between(CUdeviceptr dst, CUdeviceptr src) {
    return cuMemcpyPeerAsync(dst, context, src, context, 64, held);
}

/* Such a copy may wait for its stream; no other thread waits with it. */
static int case_within_host(void) {
    static CUresult (*const copies[])(CUdeviceptr, CUdeviceptr) = {up, down, across, anyhow,
                                                                   between};

    make_memory();
    CK(cuStreamCreate(&held, CU_STREAM_NON_BLOCKING));
    for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
        beside(copies[i], (CUdeviceptr)pinned[0], (CUdeviceptr)pinned[1]);
        beside(copies[i], managed[0], (CUdeviceptr)pinned[1]);
    }
    return 0;
}

static CUresult rows(CUdeviceptr dst, CUdeviceptr src) {
    CUDA_MEMCPY2D c = {
        .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
        .dstDevice = dst,
        .dstPitch = 64,
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = src,
        .srcPitch = 64,
        .WidthInBytes = 32,
        .Height = 2,
    };

    return cuMemcpy2DAsync(&c, held);
}

/* It runs with each launch, and not before. */
static void captured(CUresult (*copy)(CUdeviceptr, CUdeviceptr), CUdeviceptr dst, CUdeviceptr src) {
    CUgraphExec exec;
    CUgraph graph;

    *(char *)dst = 0;
    CK(cuStreamBeginCapture(held, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(copy(dst, src));
    CK(cuStreamEndCapture(held, &graph));
    EXPECT(*(char *)dst == 0);
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (char i = 1; i < 3; i++) {
        *(char *)src = i;
        CK(cuGraphLaunch(exec, held));
        CK(cuStreamSynchronize(held));
        EXPECT(*(char *)dst == i);
    }
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
}

static int case_captured_within_host(void) {
    static CUresult (*const copies[])(CUdeviceptr, CUdeviceptr) = {up, down, across, anyhow, rows};

    make_memory();
    CK(cuStreamCreate(&held, CU_STREAM_NON_BLOCKING));
    for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
        captured(copies[i], (CUdeviceptr)pinned[0], (CUdeviceptr)pinned[1]);
        captured(copies[i], managed[0], (CUdeviceptr)pinned[1]);
        captured(copies[i], managed[0], managed[1]);
    }
    return 0;
}

/* ---- calls that go beyond memory ---- */

#define REFUSES(call) EXPECT((call) == CUDA_ERROR_INVALID_VALUE)

/* A copy of `rows` rows of a page to the device, or back. */
static CUresult copy_rows(CUmemorytype type, CUdeviceptr host, CUdeviceptr on_device, size_t rows,
                          bool back) {
    CUDA_MEMCPY2D c = {
        .dstMemoryType = back ? type : CU_MEMORYTYPE_DEVICE,
        .dstHost = (void *)host,
        .dstDevice = back ? host : on_device,
        .dstPitch = BYTES,
        .srcMemoryType = back ? CU_MEMORYTYPE_DEVICE : type,
        .srcHost = (void *)host,
        .srcDevice = back ? on_device : host,
        .srcPitch = BYTES,
        .WidthInBytes = BYTES,
        .Height = rows,
    };

    return cuMemcpy2D(&c);
}

/* No call goes from one piece of host memory into the next. */
static void refuse_beyond(CUdeviceptr p, CUdeviceptr large) {
    const size_t more = 3 * MIB;
    void *host = (void *)p;

    REFUSES(cuMemcpyHtoD(large, host, more));
    REFUSES(cuMemcpyHtoDAsync(large, host, more, CU_STREAM_PER_THREAD));
    REFUSES(cuMemcpyDtoH(host, large, more));
    REFUSES(cuMemcpyDtoHAsync(host, large, more, CU_STREAM_PER_THREAD));
    REFUSES(cuMemcpy(p, large, more));
    REFUSES(cuMemcpy(large, p, more));
    REFUSES(cuMemcpyDtoD(p, large, more));
    REFUSES(cuMemcpyDtoD(large, p, more));
    REFUSES(cuMemcpyPeer(p, context, large, context, more));
    REFUSES(cuMemcpyPeer(large, context, p, context, more));
    REFUSES(copy_rows(CU_MEMORYTYPE_HOST, p, large, more / BYTES, false));
    REFUSES(copy_rows(CU_MEMORYTYPE_UNIFIED, p, large, more / BYTES, true));
    REFUSES(copy_rows(CU_MEMORYTYPE_DEVICE, p, large, more / BYTES, true));
    REFUSES(cuMemsetD8(p, 1, more));
    REFUSES(cuMemsetD32Async(p, 1, more / 4, NULL));
    REFUSES(cuMemsetD2D8(p, BYTES, 1, BYTES, more / BYTES));
    CK(cuMemcpyHtoD(large, host, 2 * MIB));
    CK(cuMemcpyDtoH((char *)host + MIB, large, MIB));
    CK(copy_rows(CU_MEMORYTYPE_HOST, p, large, 2 * MIB / BYTES, true));
}

static int case_beyond(void) {
    CUdeviceptr large, p;
    char *host[3];

    make_memory();
    CK(cuMemAlloc(&large, 4 * MIB));
    CK(cuMemsetD8(large, 1, 4 * MIB));
    for (int i = 0; i < 3; i++) { /* they lie side by side here */
        CK(cuMemAllocHost((void **)&host[i], 2 * MIB));
        memset(host[i], 0, 2 * MIB);
    }
    for (int i = 0; i < 3; i++)
        refuse_beyond((CUdeviceptr)host[i], large);
    CK(cuMemAllocManaged(&p, 2 * MIB, CU_MEM_ATTACH_GLOBAL));
    refuse_beyond(p, large);
    CK(cuCtxSynchronize());
    return 0;
}

/* ---- copies for which the device's memory is too short ---- */

#define LARGE (8 * MIB)

static bool all_are(const char *p, size_t bytes, char value) {
    return p[0] == value && !memcmp(p, p + 1, bytes - 1);
}

/* More than there is room for goes up, or comes down: nothing is copied. */
static void refuse_short(CUdeviceptr small, size_t room, char *host, char *seen) {
    memset(host, 2, LARGE);
    CK(cuMemsetD8(small, 1, room));
    REFUSES(cuMemcpyHtoD(small, host, LARGE));
    REFUSES(cuMemcpyHtoDAsync(small, host, LARGE, CU_STREAM_PER_THREAD));
    REFUSES(cuMemcpyHtoD(small + MIB, host, room));
    REFUSES(cuMemcpyDtoH(host, small, LARGE));
    REFUSES(cuMemcpyDtoHAsync(host, small, LARGE, CU_STREAM_PER_THREAD));
    REFUSES(copy_rows(CU_MEMORYTYPE_HOST, (CUdeviceptr)host, small, LARGE / BYTES, false));
    REFUSES(copy_rows(CU_MEMORYTYPE_HOST, (CUdeviceptr)host, small, LARGE / BYTES, true));
    EXPECT(all_are(host, LARGE, 2));
    CK(cuMemcpyDtoH(seen, small, room));
    EXPECT(all_are(seen, room, 1));
    CK(cuMemcpyHtoD(small, host, room));
    CK(cuMemcpyDtoH(seen, small, room));
    EXPECT(all_are(seen, room, 2));
}

/* Memory of a module, whose address only a kernel has told. */
static const char global_text[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                                  ".global .align 8 .b8 large[4194304];\n"
                                  ".visible .entry tell(.param .u64 to) {\n"
                                  ".reg .u64 %rd<4>;\n"
                                  "ld.param.u64 %rd1, [to];\n"
                                  "cvta.to.global.u64 %rd2, %rd1;\n"
                                  "mov.u64 %rd3, large;\n"
                                  "cvta.global.u64 %rd3, %rd3;\n"
                                  "st.global.u64 [%rd2], %rd3;\n"
                                  "ret;\n}\n";

static CUdeviceptr global_told(void) {
    CUfunction tell = function(module(global_text), "tell");
    void *arguments[] = {&device};
    CUdeviceptr large;

    CK(cuLaunchKernel(tell, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    CK(cuMemcpyDtoH(&large, device, sizeof(large)));
    return large;
}

/* Rows of an array of 1024 by 1024 bytes, up or down. */
static CUresult copy_array(CUarray array, char *host, size_t rows, bool down) {
    CUDA_MEMCPY2D c = {
        .dstMemoryType = down ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY,
        .dstHost = host,
        .dstArray = array,
        .dstPitch = 1024,
        .srcMemoryType = down ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST,
        .srcHost = host,
        .srcArray = array,
        .srcPitch = 1024,
        .WidthInBytes = 1024,
        .Height = rows,
    };

    return cuMemcpy2D(&c);
}

static void refuse_short_array(char *host, char *seen) {
    CUDA_ARRAY_DESCRIPTOR d = {1024, 1024, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    CUarray array;

    CK(cuArrayCreate(&array, &d));
    memset(host, 1, MIB);
    CK(copy_array(array, host, 1024, false));
    memset(host, 2, LARGE);
    REFUSES(copy_array(array, host, 4096, false));
    REFUSES(copy_array(array, host, 4096, true));
    EXPECT(all_are(host, LARGE, 2));
    CK(copy_array(array, seen, 1024, true));
    EXPECT(all_are(seen, MIB, 1));
    CK(cuArrayDestroy(array));
}

static int case_too_short(void) {
    char *host = malloc(LARGE), *seen = malloc(LARGE);
    CUdeviceptr small;

    make_memory();
    EXPECT(host && seen);
    CK(cuMemAlloc(&small, 3 * MIB));
    refuse_short(small, 3 * MIB, host, seen);
    REFUSES(cuMemcpy(small, (CUdeviceptr)host, LARGE));
    REFUSES(cuMemcpy((CUdeviceptr)seen, small, LARGE));
    refuse_short(global_told(), 4 * MIB, host, seen);
    refuse_short_array(host, seen);
    free(host);
    free(seen);
    return 0;
}

static CUresult copy_row(CUdeviceptr dst, CUdeviceptr src) {
    CUDA_MEMCPY2D c = {.dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                       .dstDevice = dst,
                       .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                       .srcDevice = src,
                       .WidthInBytes = BYTES,
                       .Height = 1};

    return cuMemcpy2D(&c);
}

/* Copies that do not say of what memory they are, with an address that only a kernel has told. */
static int case_told(void) {
    char *host = malloc(BYTES), *seen = malloc(BYTES);
    CUdeviceptr told;

    make_memory();
    told = global_told();
    memset(host, 1, BYTES);
    CK(cuMemcpy(told, (CUdeviceptr)host, BYTES));
    CK(cuMemcpy((CUdeviceptr)seen, told, BYTES));
    EXPECT(all_are(seen, BYTES, 1));
    memset(host, 2, BYTES);
    CK(copy_row(told, (CUdeviceptr)host));
    CK(copy_row((CUdeviceptr)seen, told));
    EXPECT(all_are(seen, BYTES, 2));
    memset(pinned[0], 3, BYTES);
    CK(cuMemcpyAsync(told, (CUdeviceptr)pinned[0], BYTES, NULL));
    CK(cuMemcpyAsync(device, told, BYTES, NULL));
    CK(cuMemcpyAsync((CUdeviceptr)pinned[1], device, BYTES, NULL));
    CK(cuStreamSynchronize(NULL));
    EXPECT(all_are(pinned[1], BYTES, 3));
    free(host);
    free(seen);
    return 0;
}

/* Who copies or fills nothing is not told that the address is wrong. */
static int case_nothing(void) {
    make_memory();
    CK(cuMemsetD16(device + 1, 1, 0));
    CK(cuMemsetD32(device + 2, 1, 0));
    CK(cuMemsetD32Async(0x10, 1, 0, NULL));
    CK(cuMemsetD2D32(device + 1, 64, 1, 0, 4));
    CK(cuMemcpyHtoD(0, &device, 0));
    CK(cuMemcpyDtoH(&device, 0, 0));
    REFUSES(cuMemsetD16(device + 1, 1, 2));
    REFUSES(cuMemcpyHtoD(0, &device, 1));
    return 0;
}

static const struct process_case cases[] = {
    {"seen", case_seen},
    {"within-host", case_within_host},
    {"captured-within-host", case_captured_within_host},
    {"beyond", case_beyond},
    {"too-short", case_too_short},
    {"told", case_told},
    {"nothing", case_nothing},
    {0},
};

int main(int argc, char **argv) {
    return run_case(cases, argc, argv);
}
