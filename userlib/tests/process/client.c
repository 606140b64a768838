// SPDX-License-Identifier: Apache-2.0
/*
 * usage: client CASE   One program of the tests in ./run: does what its case
 * says, prints what it saw in one word or line, and exits with 0 if all calls
 * gave what they must.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "common.h"

KERNELS(basics);

#define MIB (1u << 20)

static void say(const char *text) {
    puts(text);
    fflush(stdout);
}

/* A kernel that runs until *flag is set. */
static volatile int *flag;
static CUcontext context;
static CUstream busy;

static void keep_busy(void) {
    CUfunction wait_for;

    context = start();
    wait_for = function(module(ptx_basics), "wait_for");
    CK(cuMemHostAlloc((void **)&flag, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    *flag = 0;
    void *args[] = {&flag};
    CK(cuStreamCreate(&busy, CU_STREAM_NON_BLOCKING));
    CK(cuLaunchKernel(wait_for, 1, 1, 1, 1, 1, 1, 0, busy, args, NULL));
}

static int case_init(void) {
    int r = cuInit(0);

    printf("%d\n", r);
    return 0;
}

/* Says that it works, then again for each line of standard input, until its end. */
static int case_session(void) {
    CUdeviceptr p;
    int n = 64, base = 5, got[64];
    char line[16];

    start();
    CUfunction f = function(module(ptx_basics), "fill_index");
    CK(cuMemAlloc(&p, sizeof(got)));
    void *args[] = {&p, &n, &base};
    do {
        CK(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
        CK(cuMemcpyDtoH(got, p, sizeof(got)));
        for (int i = 0; i < n; i++)
            EXPECT(got[i] == base + i);
        say("works");
    } while (fgets(line, sizeof(line), stdin));
    return 0;
}

/* Waits for a kernel that never ends. The worker is killed meanwhile. */
static int case_wait_forever(void) {
    CUdeviceptr p;
    int count;

    keep_busy();
    say("waits");
    EXPECT(cuStreamSynchronize(busy) == CUDA_ERROR_LAUNCH_FAILED);
    say("told");
    EXPECT(cuStreamSynchronize(busy) == CUDA_ERROR_LAUNCH_FAILED);
    EXPECT(cuMemAlloc(&p, 16) == CUDA_ERROR_LAUNCH_FAILED);
    EXPECT(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
    EXPECT(cuDeviceGetCount(&count) == CUDA_ERROR_LAUNCH_FAILED);
    say("sticky");
    return 0;
}

/* Handles that were never given, of every kind. */
static int case_wild(void) {
    const uintptr_t wild[] = {(uintptr_t)-1,   8, 4096, 0x7fffdeadbee0, (uintptr_t)5 << 40 | 0x7ff0,
                              (uintptr_t)&flag};
    unsigned int u;
    unsigned long long id;
    size_t bytes;
    int number;
    float ms;
    const char *name;
    CUdeviceptr p;
    CUfunction f;
    CUmodule m;
    CUevent e;
    CUcontext c = start();

    CK(cuEventCreate(&e, 0));
    for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
        void *w = (void *)wild[i];

        EXPECT(cuCtxGetApiVersion(w, &u) != CUDA_SUCCESS);
        EXPECT(cuCtxGetId(w, &id) != CUDA_SUCCESS);
        EXPECT(cuCtxSetCurrent(w) != CUDA_SUCCESS);
        EXPECT(cuCtxPushCurrent(w) != CUDA_SUCCESS);
        EXPECT(cuCtxDestroy(w) != CUDA_SUCCESS);
        EXPECT(cuStreamSynchronize(w) != CUDA_SUCCESS);
        EXPECT(cuStreamQuery(w) != CUDA_SUCCESS);
        EXPECT(cuStreamDestroy(w) != CUDA_SUCCESS);
        EXPECT(cuStreamWaitEvent(w, e, 0) != CUDA_SUCCESS);
        EXPECT(cuStreamWaitEvent(NULL, w, 0) != CUDA_SUCCESS);
        EXPECT(cuStreamGetPriority(w, &number) != CUDA_SUCCESS);
        EXPECT(cuStreamGetFlags(w, &u) != CUDA_SUCCESS);
        EXPECT(cuStreamGetId(w, &id) != CUDA_SUCCESS);
        EXPECT(cuStreamGetCtx(w, &c) != CUDA_SUCCESS);
        EXPECT(cuEventRecord(w, NULL) != CUDA_SUCCESS);
        EXPECT(cuEventRecord(e, w) != CUDA_SUCCESS);
        EXPECT(cuEventQuery(w) != CUDA_SUCCESS);
        EXPECT(cuEventSynchronize(w) != CUDA_SUCCESS);
        EXPECT(cuEventElapsedTime(&ms, w, e) != CUDA_SUCCESS);
        EXPECT(cuEventDestroy(w) != CUDA_SUCCESS);
        EXPECT(cuModuleGetFunction(&f, w, "x") != CUDA_SUCCESS);
        EXPECT(cuModuleGetGlobal(&p, &bytes, w, "x") != CUDA_SUCCESS);
        EXPECT(cuModuleGetFunctionCount(&u, w) != CUDA_SUCCESS);
        EXPECT(cuModuleUnload(w) != CUDA_SUCCESS);
        EXPECT(cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_NUM_REGS, w) != CUDA_SUCCESS);
        EXPECT(cuFuncSetAttribute(w, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64) !=
               CUDA_SUCCESS);
        EXPECT(cuFuncGetModule(&m, w) != CUDA_SUCCESS);
        EXPECT(cuFuncGetName(&name, w) != CUDA_SUCCESS);
        EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, w, 64, 0) != CUDA_SUCCESS);
        EXPECT(cuLaunchKernel(w, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != CUDA_SUCCESS);
        EXPECT(cuMemFree((CUdeviceptr)wild[i]) != CUDA_SUCCESS);
        EXPECT(cuMemFreeHost(w) != CUDA_SUCCESS);
    }
    CK(cuCtxSynchronize());
    return case_session();
}

/* fork in the middle of a session: the child exits, aborts, or lives on when the parent ends. */
static int case_forks(void) {
    CUdeviceptr p;
    int status;

    start();
    CK(cuMemAlloc(&p, 16));
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();

        if (!child) {
            EXPECT(cuCtxSynchronize() != CUDA_SUCCESS);
            if (i)
                abort();
            exit(0);
        }
        EXPECT(waitpid(child, &status, 0) == child);
        CK(cuMemsetD8(p, 1, 16));
        CK(cuCtxSynchronize());
    }
    if (!fork()) {
        sleep(20);
        _exit(0);
    }
    say("parent ends");
    return 0;
}

/* Calls of many kinds for ever. It is killed at a random moment. */
static int case_forever(void) {
    char *pinned, *plain = malloc(3 * MIB);
    CUdeviceptr p;
    CUstream s;
    CUevent e;

    say("starts");
    start();
    CK(cuMemHostAlloc((void **)&pinned, MIB, 0));
    memset(plain, 1, 3 * MIB);
    for (;;) {
        CUmodule m = module(ptx_basics);

        CK(cuStreamCreate(&s, 0));
        CK(cuEventCreate(&e, 0));
        CK(cuMemAlloc(&p, 3 * MIB));
        CK(cuMemcpyHtoD(p, plain, 3 * MIB));
        CK(cuMemcpyDtoHAsync(pinned, p, MIB, s));
        CK(cuEventRecord(e, s));
        CK(cuEventSynchronize(e));
        CK(cuMemFree(p));
        CK(cuEventDestroy(e));
        CK(cuStreamDestroy(s));
        CK(cuModuleUnload(m));
    }
}

/* The ring is full of posted calls while a kernel runs: none is lost, in order. */
static int case_posted(void) {
    enum { RECORDS = 100000 };
    CUevent events[2];

    keep_busy();
    CK(cuEventCreate(&events[0], 0));
    CK(cuEventCreate(&events[1], 0));
    for (int i = 0; i < RECORDS; i++)
        CK(cuEventRecord(events[i % 2], busy));
    EXPECT(cuEventQuery(events[1]) == CUDA_ERROR_NOT_READY);
    *flag = 1;
    CK(cuStreamSynchronize(busy));
    EXPECT(cuEventQuery(events[0]) == CUDA_SUCCESS);
    EXPECT(cuEventQuery(events[1]) == CUDA_SUCCESS);
    return 0;
}

static int waiting, ended;

static void *wait_for_busy(void *unused) {
    CK(cuCtxSetCurrent(context));
    __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    CK(cuStreamSynchronize(busy));
    __atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
    return unused;
}

/* More calls outstanding at once than any table of ours expects. */
static int case_outstanding(void) {
    enum { THREADS = 1100 };
    static pthread_t threads[THREADS];
    pthread_attr_t small;
    size_t free_bytes, total;

    keep_busy();
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 * 1024);
    for (int i = 0; i < THREADS; i++)
        EXPECT(!pthread_create(&threads[i], &small, wait_for_busy, NULL));
    while (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) < THREADS)
        usleep(1000);
    usleep(200000);
    EXPECT(__atomic_load_n(&ended, __ATOMIC_SEQ_CST) == 0);
    CK(cuMemGetInfo(&free_bytes, &total)); /* another thread's call goes on */
    *flag = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    EXPECT(ended == THREADS);
    return 0;
}

/*
 * One thread's large copies go through many records at once; another one reads their answers
 * for it, and then ends to call: the first must go on by itself.
 */
static void *copies(void *unused) {
    char *host = malloc(24 * MIB);
    CUdeviceptr p;

    CK(cuCtxSetCurrent(context));
    CK(cuMemAlloc(&p, 24 * MIB));
    for (int i = 0; i < 40; i++)
        CK(cuMemcpyHtoD(p, host, 24 * MIB));
    free(host);
    __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
    return unused;
}

static int case_handover(void) {
    pthread_t thread;
    size_t free_bytes, total;
    unsigned int calls = 0;

    context = start();
    pthread_create(&thread, NULL, copies, NULL);
    while (!__atomic_load_n(&ended, __ATOMIC_SEQ_CST)) {
        int before = __atomic_load_n(&ended, __ATOMIC_SEQ_CST);

        CK(cuMemGetInfo(&free_bytes, &total));
        /* Mostly the copying thread is alone; a hang of it would end the test by its limit. */
        if (++calls % 50 == 0 && !before)
            usleep(20000);
        if (calls == 400)
            break;
    }
    pthread_join(thread, NULL);
    return 0;
}

/* A launch that lacks a parameter is none, and holds up nothing. */
static int case_lacking(void) {
    int *host, rounds = 3;
    CUdeviceptr x;
    CUfunction f;

    start();
    f = function(module(ptx_basics), "chain");
    CK(cuMemAllocHost((void **)&host, sizeof(*host)));
    CK(cuMemAlloc(&x, sizeof(*host)));
    CK(cuMemsetD32(x, 1, 1));
    void *args[] = {&x, &rounds}, *first[] = {&x, NULL}, *second[] = {NULL, &rounds};
    for (int i = 0; i < 3; i++) {
        EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, first, NULL) ==
               CUDA_ERROR_INVALID_VALUE);
        EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, second, NULL) ==
               CUDA_ERROR_INVALID_VALUE);
        EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) ==
               CUDA_ERROR_INVALID_VALUE);
    }
    CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    CK(cuMemcpyDtoH(host, x, sizeof(*host)));
    EXPECT(*host == 40);
    return 0;
}

static void *destroy_context(void *unused) {
    CK(cuCtxDestroy(context));
    return unused;
}

/* What another thread does to a context is seen by the next call of one that works in it. */
static int case_context_gone(void) {
    CUcontext other = start();
    pthread_t thread;
    CUfunction f;
    CUevent e;

    CK(cuCtxCreate(&context, NULL, 0, 0));
    f = function(module(ptx_basics), "chain");
    CK(cuEventCreate(&e, 0));
    CK(cuEventRecord(e, NULL));
    EXPECT(!pthread_create(&thread, NULL, destroy_context, NULL));
    pthread_join(thread, NULL);
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) ==
           CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT(cuEventRecord(e, NULL) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT(cuMemsetD8Async(0, 0, 1, NULL) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CK(cuCtxSetCurrent(other));
    CK(cuEventCreate(&e, 0));
    CK(cuEventRecord(e, NULL));
    CK(cuCtxSetCurrent(NULL)); /* the one below it */
    CK(cuEventRecord(e, NULL));
    CK(cuCtxSetCurrent(NULL));
    EXPECT(cuEventRecord(e, NULL) == CUDA_ERROR_INVALID_CONTEXT);
    return 0;
}

#define BLOCKS 8
#define BLOCK_BYTES (64u << 20)

/* Up and down again from all of it: each block has its own. */
static void through_the_gpu(unsigned char **blocks) {
    CUdeviceptr p;

    CK(cuMemAlloc(&p, BLOCK_BYTES));
    for (int i = 0; i < BLOCKS; i++) {
        memset(blocks[i], i + 1, BLOCK_BYTES);
        CK(cuMemcpyHtoDAsync(p, blocks[i], BLOCK_BYTES, NULL));
        CK(cuCtxSynchronize());
        memset(blocks[i], 0, BLOCK_BYTES);
        CK(cuMemcpyDtoHAsync(blocks[i], p, BLOCK_BYTES, NULL));
    }
    CK(cuCtxSynchronize());
    for (int i = 0; i < BLOCKS; i++)
        EXPECT(blocks[i][0] == i + 1 && blocks[i][BLOCK_BYTES - 1] == i + 1);
    CK(cuMemFree(p));
}

/* Pinned memory that is taken and freed in turn, for each line of standard input. */
static int case_pinned(void) {
    unsigned char *blocks[BLOCKS];
    char line[16];

    start();
    do {
        for (int i = 0; i < BLOCKS; i++)
            CK(cuMemHostAlloc((void **)&blocks[i], BLOCK_BYTES, 0));
        through_the_gpu(blocks);
        say("works with 512 MiB");
        if (!fgets(line, sizeof(line), stdin))
            break;
        for (int i = 0; i < BLOCKS; i++)
            CK(cuMemFreeHost(blocks[i]));
        say("has freed it");
    } while (fgets(line, sizeof(line), stdin));
    return 0;
}

/* The program has a mapping where the arena would lie. */
static int case_arena_taken(void) {
    void *at = (void *)0x200000000000ull;
    char *pinned;

    EXPECT(mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                -1, 0) == at);
    start();
    CK(cuMemHostAlloc((void **)&pinned, MIB, 0));
    memset(pinned, 1, MIB);
    return case_session();
}

/* Pinned memory that the worker has as well: what the GPU writes there is seen. */
static void works_pinned(CUdeviceptr p) {
    unsigned int *pinned;

    CK(cuMemHostAlloc((void **)&pinned, 16 * MIB, 0));
    *pinned = 7;
    CK(cuMemcpyDtoH(pinned, p, 4096));
    EXPECT(*pinned == 0x12345678);
}

/* Regions that come to nothing, here or in the worker, leave nothing for those that follow. */
static int case_regions_refused(void) {
    void *low = mmap((void *)0x20000, 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CUdeviceptr p;
    void *none;

    start();
    CK(cuMemAlloc(&p, 4096));
    CK(cuMemsetD32(p, 0x12345678, 1024));
    for (int i = 0; i < 1000; i++) /* there are not so many addresses */
        EXPECT(cuMemHostAlloc(&none, 2ull << 40, 0) == CUDA_ERROR_OUT_OF_MEMORY);
    works_pinned(p);
    for (int i = 0; i < 1000; i++)
        EXPECT(cuMemHostRegister(low, 4096, 0) != CUDA_SUCCESS);
    works_pinned(p);
    works_pinned(p);
    return 0;
}

static void *unregister(void *p) {
    CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

    CK(cuCtxSetCurrent(context));
    CK(cuThreadExchangeStreamCaptureMode(&relaxed));
    __atomic_store_n(&waiting, 1, __ATOMIC_SEQ_CST);
    CK(cuMemHostUnregister(p));
    __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* What the driver waits with for the GPU holds up no other thread: the GPU may wait for that one.
 */
static int case_unregister_waits(void) {
    CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    void *p = aligned_alloc(4096, MIB), *pinned;
    size_t free_bytes, total;
    CUstream captured;
    pthread_t thread;
    CUgraph graph;

    keep_busy();
    CK(cuThreadExchangeStreamCaptureMode(&relaxed));
    CK(cuMemHostRegister(p, MIB, 0));
    /* Who captures does not wait for the GPU in the library: it does so in the worker. */
    CK(cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING));
    CK(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT(!pthread_create(&thread, NULL, unregister, p));
    while (!__atomic_load_n(&waiting, __ATOMIC_SEQ_CST))
        usleep(1000);
    usleep(200000);
    EXPECT(!__atomic_load_n(&ended, __ATOMIC_SEQ_CST));
    CK(cuMemHostAlloc(&pinned, 32 * MIB, 0));
    CK(cuMemGetInfo(&free_bytes, &total));
    EXPECT(!__atomic_load_n(&ended, __ATOMIC_SEQ_CST));
    *flag = 1;
    pthread_join(thread, NULL);
    EXPECT(ended);
    CK(cuStreamEndCapture(captured, &graph));
    free(p);
    return 0;
}

/* What the GPU writes into host memory, from the context that is current. */
static void gpu_writes(volatile unsigned int *p, unsigned int value) {
    CK(cuMemsetD32((CUdeviceptr)p, value, 16));
    CK(cuCtxSynchronize());
    EXPECT(*p == value);
}

/* A context keeps its host memory when the primary one goes. */
static int case_primary_gone(void) {
    unsigned int *pinned, *registered = aligned_alloc(4096, MIB);

    start();
    CK(cuCtxCreate(&context, NULL, 0, 0));
    CK(cuMemHostAlloc((void **)&pinned, MIB, 0));
    CK(cuMemHostRegister(registered, MIB, CU_MEMHOSTREGISTER_DEVICEMAP));
    CK(cuDevicePrimaryCtxRelease(0));
    gpu_writes(pinned, 1);
    gpu_writes(registered, 1);
    start();
    CK(cuCtxSetCurrent(context));
    CK(cuDevicePrimaryCtxReset(0));
    gpu_writes(pinned, 2);
    gpu_writes(registered, 2);
    CK(cuMemHostUnregister(registered));
    CK(cuMemFreeHost(pinned));
    free(registered);
    return 0;
}

/* A graph that copies ordinary memory, and outlives the context in which it was made. */
static int case_graph_outlives(void) {
    static char host[MIB];
    CUcontext other;
    CUdeviceptr p;
    CUstream s;
    CUgraph graph;
    void *first, *second;

    context = start();
    CK(cuCtxCreate(&other, NULL, 0, 0));
    CK(cuMemAlloc(&p, MIB));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuMemcpyHtoDAsync(p, host, MIB, s));
    CK(cuStreamEndCapture(s, &graph));
    CK(cuCtxDestroy(other));
    CK(cuCtxSetCurrent(context));
    CK(cuMemHostAlloc(&first, MIB, 0));
    CK(cuGraphDestroy(graph));
    CK(cuMemHostAlloc(&second, MIB, 0));
    EXPECT(first != second);
    return 0;
}

static void begin_capture(CUstream s) {
    CUdeviceptr p;

    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT(cuMemAlloc(&p, 64) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

static CUstream capturing(void) {
    CUstream s;

    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    begin_capture(s);
    return s;
}

static void *captures_and_ends(void *unused) {
    CK(cuCtxSetCurrent(context));
    begin_capture(CU_STREAM_PER_THREAD);
    return unused;
}

/* What is not permitted while anything is captured. */
static void nothing_captured(void) {
    CUdeviceptr p;

    CK(cuMemAlloc(&p, 64));
    CK(cuMemFree(p));
}

/* Captures whose streams end, each in another way. */
static int case_captures_end(void) {
    CUcontext other;
    pthread_t thread;

    context = start();
    CK(cuStreamDestroy(capturing()));
    nothing_captured();
    CK(cuCtxCreate(&other, NULL, 0, 0));
    capturing();
    CK(cuCtxDestroy(other));
    CK(cuCtxSetCurrent(context));
    nothing_captured();
    pthread_create(&thread, NULL, captures_and_ends, NULL);
    pthread_join(thread, NULL);
    nothing_captured();
    capturing();
    CK(cuDevicePrimaryCtxReset(0));
    start();
    nothing_captured();
    return 0;
}

/* What a graph allocated is freed once a launch: of another time the caller hears at once. */
static int case_graph_freed(void) {
    CUgraphExec exec;
    CUdeviceptr p;
    CUgraph graph;
    CUstream s;

    start();
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuMemAllocAsync(&p, MIB, s));
    CK(cuStreamEndCapture(s, &graph));
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    EXPECT(cuMemFreeAsync(p, s) == CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < 2; i++) {
        CK(cuGraphLaunch(exec, s));
        CK(cuMemFreeAsync(p, s));
        EXPECT(cuMemFreeAsync(p, s) == CUDA_ERROR_INVALID_VALUE);
        CK(cuStreamSynchronize(s));
    }
    return 0;
}

static int ordinal(CUdeviceptr p) {
    int device = -1;

    CK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    return device;
}

/* Memory says of which device's context it is, whichever is current. */
static int case_two_devices(void) {
    void *pinned[2], *managed[2];
    CUdeviceptr p[2];

    start();
    for (int d = 0; d < 2; d++) {
        CK(cuCtxCreate(&context, NULL, 0, d));
        CK(cuMemAlloc(&p[d], MIB));
        CK(cuMemHostAlloc(&pinned[d], MIB, 0));
        CK(cuMemAllocManaged((CUdeviceptr *)&managed[d], MIB, CU_MEM_ATTACH_GLOBAL));
    }
    for (int d = 0; d < 2; d++) {
        EXPECT(ordinal(p[d]) == d);
        EXPECT(ordinal((CUdeviceptr)pinned[d]) == d);
        EXPECT(ordinal((CUdeviceptr)managed[d]) == d);
    }
    return 0;
}

/* With VCUDA_STATS: what copies of each kind add to the counters. */
static int copying(bool pinned, bool copy) {
    enum { SMALL = 5000, LARGE = 3 * MIB + 777 };
    char *host;
    CUdeviceptr p;

    start();
    module(ptx_basics);
    CK(cuMemAlloc(&p, LARGE));
    if (pinned)
        CK(cuMemHostAlloc((void **)&host, LARGE, 0));
    else
        host = malloc(LARGE);
    memset(host, 1, LARGE);
    if (!copy)
        return 0;
    CK(cuMemcpyHtoD(p, host, SMALL));
    CK(cuMemcpyHtoD(p, host, LARGE));
    CK(cuMemcpyDtoH(host, p, SMALL));
    CK(cuMemcpyDtoH(host, p, LARGE));
    printf("%d\n", 2 * (SMALL + LARGE));
    return 0;
}

/*
 * 100 waits that follow launches at once, and as many for a stream that has nothing to do. So many
 * launches that the worker is still at them when the wait comes, also on a busy machine.
 */
static int case_waits(void) {
    volatile int *pinned;
    int n = 1, last = 0;

    start();
    CUfunction f = function(module(ptx_basics), "fill_index");
    CK(cuMemHostAlloc((void **)&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    for (int wait = 0; wait < 100; wait++) {
        void *to = (void *)pinned, *args[] = {&to, &n, &last};

        for (int i = 0; i < 100; i++, last++)
            CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
        CK(cuStreamSynchronize(NULL));
        EXPECT(*pinned == last - 1);
        CK(cuStreamSynchronize(NULL));
    }
    return 0;
}

static int case_copy_none(void) {
    return copying(false, false);
}

static int case_copy_pinned(void) {
    return copying(true, true);
}

static int case_copy_pageable(void) {
    return copying(false, true);
}

static const struct process_case cases[] = {
    {"init", case_init},
    {"session", case_session},
    {"wait-forever", case_wait_forever},
    {"wild", case_wild},
    {"forks", case_forks},
    {"forever", case_forever},
    {"posted", case_posted},
    {"outstanding", case_outstanding},
    {"handover", case_handover},
    {"lacking", case_lacking},
    {"context-gone", case_context_gone},
    {"arena-taken", case_arena_taken},
    {"pinned", case_pinned},
    {"primary-gone", case_primary_gone},
    {"regions-refused", case_regions_refused},
    {"unregister-waits", case_unregister_waits},
    {"graph-outlives", case_graph_outlives},
    {"captures-end", case_captures_end},
    {"graph-freed", case_graph_freed},
    {"two-devices", case_two_devices},
    {"waits", case_waits},
    {"copy-none", case_copy_none},
    {"copy-pinned", case_copy_pinned},
    {"copy-pageable", case_copy_pageable},
    {0},
};

int main(int argc, char **argv) {
    return run_case(cases, argc, argv);
}
