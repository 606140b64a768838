// SPDX-License-Identifier: Apache-2.0
/*
 * usage: code CASE   One program of the tests in ./run: code, contexts, and what
 * lies in streams. Exits with 0 if all calls gave what they must.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"
#include "common.h"

KERNELS(basics);

static CUcontext context;

/* One thread waits here for what another says. */
static int stage;

static void reach(int n) {
    __atomic_store_n(&stage, n, __ATOMIC_SEQ_CST);
}

static void await(int n) {
    while (__atomic_load_n(&stage, __ATOMIC_SEQ_CST) < n)
        usleep(1000);
}

static void *capture_for_another(void *unused) {
    CUstream s;
    CUgraph graph;

    CK(cuCtxSetCurrent(context));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    reach(1);
    await(2);
    CK(cuStreamEndCapture(s, &graph));
    return unused;
}

/* An executable whose second launch is wrong: its memory is still there. */
static CUgraphExec allocating(void) {
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = 1 << 20};
    CUgraphExec exec;
    CUgraphNode node;
    CUgraph graph;

    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &memory));
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

/* While another captures, what is made is there, although a call before it failed. */
static int case_made_in_capture(void) {
    CUevent events[2];
    CUstream streams[2];
    pthread_t thread;
    CUgraphExec exec;

    context = start();
    exec = allocating();
    CK(cuGraphLaunch(exec, NULL));
    CK(cuGraphLaunch(exec, NULL)); /* fails later */
    EXPECT(!pthread_create(&thread, NULL, capture_for_another, NULL));
    await(1);
    for (int i = 0; i < 2; i++) {
        CK(cuEventCreate(&events[i], 0));
        CK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    }
    EXPECT(cuStreamSynchronize(streams[0]) == CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < 2; i++) {
        CK(cuEventRecord(events[i], streams[i]));
        CK(cuEventSynchronize(events[i]));
    }
    reach(2);
    pthread_join(thread, NULL);
    return 0;
}

enum { ROUNDS = 500, SEEKERS = 4 };
static CUmodule looked_in;
static CUlibrary library;
static pthread_barrier_t barrier;

static void *seek(void *unused) {
    CUfunction f;
    CUkernel k;
    CUmodule m;

    CK(cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&barrier);
        CK(cuModuleGetFunction(&f, looked_in, "count"));
        CK(cuLibraryGetKernel(&k, library, "count"));
        CK(cuLibraryGetModule(&m, library));
        pthread_barrier_wait(&barrier);
    }
    return unused;
}

/* A name's place in its table (protocol/record.h). */
static uintptr_t place(const void *handle) {
    return (uintptr_t)handle >> 4 & 0xfffff;
}

/* Threads that ask for the same at the same time get the same, and use no names up. */
static int case_found_by_many(void) {
    pthread_t threads[SEEKERS];
    CUfunction f, again;
    CUkernel k;
    CUmodule m;

    context = start();
    EXPECT(!pthread_barrier_init(&barrier, NULL, SEEKERS + 1));
    for (int i = 0; i < SEEKERS; i++)
        EXPECT(!pthread_create(&threads[i], NULL, seek, NULL));
    for (int i = 0; i < ROUNDS; i++) {
        looked_in = module(ptx_basics);
        CK(cuLibraryLoadData(&library, ptx_basics, NULL, NULL, 0, NULL, NULL, 0));
        pthread_barrier_wait(&barrier);
        CK(cuModuleGetFunction(&f, looked_in, "count"));
        pthread_barrier_wait(&barrier);
        CK(cuModuleGetFunction(&again, looked_in, "count"));
        CK(cuLibraryGetKernel(&k, library, "count"));
        CK(cuLibraryGetModule(&m, library));
        EXPECT(f == again && place(f) < 100 && place(k) < 100 && place(m) < 100);
        CK(cuModuleUnload(looked_in));
        CK(cuLibraryUnload(library));
    }
    for (int i = 0; i < SEEKERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

enum { ENDS = 20, LIBRARIES = 16, KERNELS_EACH = 8 };
static CUcontext ending;

static void *end_context(void *unused) {
    for (int i = 0; i < ENDS; i++) {
        pthread_barrier_wait(&barrier);
        CK(cuCtxDestroy(ending));
        pthread_barrier_wait(&barrier);
    }
    return unused;
}

/* A library with a module and functions in the context; one of these. */
static CUfunction use_library(CUlibrary *l) {
    CUkernel kernels[KERNELS_EACH];
    CUfunction f = NULL;
    CUmodule m;

    CK(cuLibraryLoadData(l, ptx_basics, NULL, NULL, 0, NULL, NULL, 0));
    CK(cuLibraryEnumerateKernels(kernels, KERNELS_EACH, *l));
    for (int k = 0; k < KERNELS_EACH; k++)
        CK(cuKernelGetFunction(&f, kernels[k]));
    CK(cuLibraryGetModule(&m, *l));
    return f;
}

/* Libraries end on one thread, and a context where they were used on another. */
static int case_library_and_context_end(void) {
    CUlibrary libraries[LIBRARIES];
    pthread_t thread;
    CUfunction f;
    CUmodule m;

    CK(cuInit(0));
    EXPECT(!pthread_barrier_init(&barrier, NULL, 2));
    EXPECT(!pthread_create(&thread, NULL, end_context, NULL));
    for (int i = 0; i < ENDS; i++) {
        CK(cuCtxCreate(&ending, NULL, 0, 0));
        for (int l = 0; l < LIBRARIES; l++)
            f = use_library(&libraries[l]);
        CK(cuCtxPopCurrent(NULL));
        pthread_barrier_wait(&barrier);
        for (int l = 0; l < LIBRARIES; l++)
            CK(cuLibraryUnload(libraries[l]));
        pthread_barrier_wait(&barrier);
        EXPECT(cuFuncGetModule(&m, f) == CUDA_ERROR_INVALID_HANDLE);
    }
    pthread_join(thread, NULL);
    return 0;
}

/* A kernel's function is in the module of its own context, whichever is current. */
static int case_module_of_kernel(void) {
    CUmodule modules[2], m;
    CUfunction functions[2];
    CUcontext contexts[2];
    CUkernel k;

    contexts[0] = start();
    CK(cuLibraryLoadData(&library, ptx_basics, NULL, NULL, 0, NULL, NULL, 0));
    CK(cuLibraryGetKernel(&k, library, "count"));
    CK(cuCtxCreate(&contexts[1], NULL, 0, 0));
    for (int i = 0; i < 2; i++) {
        CK(cuCtxSetCurrent(contexts[i]));
        CK(cuKernelGetFunction(&functions[i], k));
    }
    CK(cuFuncGetModule(&modules[0], functions[0])); /* the other is current */
    CK(cuCtxSetCurrent(NULL));
    CK(cuFuncGetModule(&modules[1], functions[1]));
    EXPECT(modules[0] != modules[1]);
    for (int i = 0; i < 2; i++) {
        CK(cuCtxSetCurrent(contexts[i]));
        CK(cuLibraryGetModule(&m, library));
        EXPECT(m == modules[i]);
    }
    return 0;
}

/* Bytes that malloc() has given. */
static size_t allocated(void) {
    struct mallinfo2 all = mallinfo2();

    return all.uordblks + all.hblkhd;
}

static void count(void *n) {
    __atomic_fetch_add((int *)n, 1, __ATOMIC_SEQ_CST);
}

static void post(void *semaphore) {
    sem_post(semaphore);
}

/* An executable that calls count(n) once; *graph is what it was made of. */
static CUgraphExec capture_count(CUstream s, int *n, CUgraph *graph) {
    CUgraphExec exec;

    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuLaunchHostFunc(s, count, n));
    CK(cuStreamEndCapture(s, graph));
    CK(cuGraphInstantiateWithFlags(&exec, *graph, 0));
    return exec;
}

/* Has `ended` posted when nothing has the graph any more. */
static void tell_end(CUgraph graph, sem_t *ended) {
    CUuserObject object;

    CK(cuUserObjectCreate(&object, ended, post, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    CK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
}

/* A captured function can be called for as long as anything has it, and is forgotten then. */
static int case_captured_functions(void) {
    enum { CAPTURES = 2000, GROWTH = 64 << 10 };
    int n = 0;
    size_t before = 0;
    CUgraphExec exec;
    CUgraph graph;
    CUstream s;
    sem_t ended;

    start();
    sem_init(&ended, 0, 0);
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < CAPTURES; i++) {
        exec = capture_count(s, &n, &graph);
        tell_end(graph, &ended);
        CK(cuGraphLaunch(exec, s));
        CK(cuGraphDestroy(graph));
        CK(cuGraphLaunch(exec, s));
        CK(cuGraphExecDestroy(exec));
        CK(cuStreamSynchronize(s));
        EXPECT(n == 2 * (i + 1));
        sem_wait(&ended);
        if (i == CAPTURES / 10)
            before = allocated();
    }
    EXPECT(allocated() < before + GROWTH);
    return 0;
}

/* Functions that an executable is given over and over are remembered once. */
static int case_functions_set(void) {
    enum { TIMES = 4000, DIFFERENT = 8, GROWTH = 64 << 10 };
    int n[DIFFERENT] = {0};
    CUDA_HOST_NODE_PARAMS p = {.fn = count};
    size_t before;
    CUgraphExec exec;
    CUgraphNode node;
    CUgraph graph;

    start();
    CK(cuGraphCreate(&graph, 0));
    p.userData = &n[0];
    CK(cuGraphAddHostNode(&node, graph, NULL, 0, &p));
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    before = allocated();
    for (int i = 0; i < TIMES; i++) {
        p.userData = &n[i % DIFFERENT];
        CK(cuGraphExecHostNodeSetParams(exec, node, &p));
        CK(cuGraphLaunch(exec, NULL));
    }
    CK(cuCtxSynchronize());
    for (int i = 0; i < DIFFERENT; i++)
        EXPECT(n[i] == TIMES / DIFFERENT);
    EXPECT(allocated() < before + GROWTH);
    return 0;
}

/* Numbers end a little later than what they stand for: waits for those of all that has ended. */
static void await_ends(sem_t *ended) {
    CUgraph graph;

    CK(cuGraphCreate(&graph, 0));
    tell_end(graph, ended);
    CK(cuGraphDestroy(graph));
    sem_wait(ended);
}

/* Nodes of a graph that get another function again and again, or come and go. */
static int case_nodes_functions(void) {
    enum { TIMES = 800, GROWTH = 64 << 10 };
    int n = 0, old = 0;
    CUDA_HOST_NODE_PARAMS p = {.fn = count, .userData = &old};
    CUgraphExec exec, later;
    CUgraphNode node, more;
    CUgraph graph;
    size_t before;
    sem_t ended;

    start();
    sem_init(&ended, 0, 0);
    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddHostNode(&node, graph, NULL, 0, &p));
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    p.userData = &n;
    before = allocated();
    for (int i = 0; i < TIMES; i++) {
        CK(cuGraphHostNodeSetParams(node, &p));
        CK(cuGraphAddHostNode(&more, graph, NULL, 0, &p));
        CK(cuGraphDestroyNode(more));
        if (i % 20 == 0)
            await_ends(&ended);
    }
    EXPECT(allocated() < before + GROWTH);
    /* What was made of it before calls what it had then. */
    CK(cuGraphInstantiateWithFlags(&later, graph, 0));
    CK(cuGraphLaunch(exec, NULL));
    CK(cuGraphLaunch(later, NULL));
    CK(cuGraphDestroy(graph));
    CK(cuGraphLaunch(later, NULL));
    CK(cuCtxSynchronize());
    EXPECT(old == 1 && n == 2);
    return 0;
}

static volatile int *flag;

static void *wait_in_context(void *unused) {
    CK(cuCtxSetCurrent(context));
    reach(1);
    cuStreamSynchronize(NULL); /* it may hear that its context ends */
    return unused;
}

static void *set_flag_later(void *unused) {
    usleep(100000);
    *flag = 1;
    return unused;
}

/* A primary context that ends while one waits in it leaves nothing to the one after it. */
static int case_primary_again(void) {
    pthread_t waits, sets;
    CUfunction wait_for;

    context = start();
    wait_for = function(module(ptx_basics), "wait_for");
    CK(cuMemHostAlloc((void **)&flag, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    *flag = 0;
    void *args[] = {&flag};
    CK(cuLaunchKernel(wait_for, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    EXPECT(!pthread_create(&waits, NULL, wait_in_context, NULL));
    await(1);
    usleep(10000);
    EXPECT(!pthread_create(&sets, NULL, set_flag_later, NULL));
    CK(cuDevicePrimaryCtxRelease(0)); /* waits for the kernel */
    pthread_join(waits, NULL);
    pthread_join(sets, NULL);
    CK(cuDevicePrimaryCtxRetain(&context, 0));
    CK(cuStreamSynchronize(NULL));
    CK(cuCtxSynchronize());
    return 0;
}

/* ---- memory that the program guards ---- */

static char *guarded;

static void open_guarded(int number, siginfo_t *info, void *unused) {
    (void)number;
    (void)info;
    (void)unused;
    mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
}

static void write_guarded(void *value) {
    *guarded = *(char *)value;
}

/* Its handler makes the page good, in whatever thread a host function runs. */
static int case_guarded_by_handler(void) {
    struct sigaction action = {.sa_sigaction = open_guarded, .sa_flags = SA_SIGINFO};
    char value = 5;

    context = start();
    guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(guarded != MAP_FAILED);
    EXPECT(!sigaction(SIGSEGV, &action, NULL));
    CK(cuLaunchHostFunc(NULL, write_guarded, &value));
    CK(cuStreamSynchronize(NULL));
    EXPECT(*guarded == value);
    return 0;
}

static const struct process_case cases[] = {
    {"made-in-capture", case_made_in_capture},
    {"found-by-many", case_found_by_many},
    {"library-and-context-end", case_library_and_context_end},
    {"module-of-kernel", case_module_of_kernel},
    {"captured-functions", case_captured_functions},
    {"functions-set", case_functions_set},
    {"nodes-functions", case_nodes_functions},
    {"primary-again", case_primary_again},
    {"guarded-by-handler", case_guarded_by_handler},
    {0},
};

int main(int argc, char **argv) {
    return run_case(cases, argc, argv);
}
