// SPDX-License-Identifier: Apache-2.0
/*
 * What the soak runs, many at a time. usage: soak MODE [ARGUMENT...]
 *
 *   once                    one kernel, its result checked
 *   threads COUNT SECONDS   threads with a stream each that make calls of all kinds
 *   steady SECONDS          kernels one after the other, each result checked
 *   endless                 calls of all kinds until it is killed
 *   fault                   a kernel that writes to no memory
 *   starts PROGRAM...       with a session of its own, forks a child that executes PROGRAM
 *   free                    free memory of the device, in MiB
 */
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

KERNELS(basics);
KERNELS(vector_add);

#define LENGTH 2000

static CUcontext context;
static CUfunction add;
static CUmodule shared;
static pthread_barrier_t all_threads;
static double end;

static double now(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct lane {
    CUstream stream;
    CUevent event;
    CUdeviceptr in, out;
    float *pinned;
    float host[LENGTH];
    uint32_t seed;
    int called;
};

static void open_lane(struct lane *l, uint32_t seed) {
    memset(l, 0, sizeof(*l));
    l->seed = seed;
    CK(cuStreamCreate(&l->stream, CU_STREAM_NON_BLOCKING));
    CK(cuEventCreate(&l->event, CU_EVENT_DISABLE_TIMING));
    CK(cuMemAlloc(&l->in, sizeof(l->host)));
    CK(cuMemAlloc(&l->out, sizeof(l->host)));
    CK(cuMemHostAlloc((void **)&l->pinned, sizeof(l->host), 0));
}

static void close_lane(struct lane *l) {
    CK(cuStreamSynchronize(l->stream));
    CK(cuMemFreeHost(l->pinned));
    CK(cuMemFree(l->in));
    CK(cuMemFree(l->out));
    CK(cuEventDestroy(l->event));
    CK(cuStreamDestroy(l->stream));
}

/* Up, a kernel, down: the number of wrong elements. */
static int round_trip(struct lane *l, float *buffer) {
    int n = LENGTH, wrong = 0;
    float base = (float)(next_random(&l->seed) % 1000);
    void *args[] = {&l->in, &l->in, &l->out, &n};

    for (int i = 0; i < n; i++)
        buffer[i] = base + (float)i;
    CK(cuMemcpyHtoDAsync(l->in, buffer, sizeof(l->host), l->stream));
    CK(cuLaunchKernel(add, (LENGTH + 127) / 128, 1, 1, 128, 1, 1, 0, l->stream, args, NULL));
    CK(cuEventRecord(l->event, l->stream));
    CK(cuMemcpyDtoHAsync(buffer, l->out, sizeof(l->host), l->stream));
    CK(cuStreamSynchronize(l->stream));
    CK(cuEventSynchronize(l->event));
    for (int i = 0; i < n; i++)
        wrong += buffer[i] != 2 * (base + (float)i);
    return wrong;
}

static void CUDA_CB note(void *data) {
    ++*(int *)data;
}

/* One call or a few of some kind, picked at random: the number of wrong results. */
static int something(struct lane *l) {
    size_t some, total;
    CUdeviceptr p;
    CUmodule m;
    CUstream s;
    void *h;
    int before = l->called, value;

    switch (next_random(&l->seed) % 12) {
    case 0:
        CK(cuMemAlloc(&p, 1 + next_random(&l->seed) % 300000));
        CK(cuMemsetD8Async(p, 7, 1, l->stream));
        CK(cuStreamSynchronize(l->stream));
        CK(cuMemFree(p));
        return 0;
    case 1:
        CK(cuMemGetInfo(&some, &total));
        return some > total;
    case 2:
        CK(cuModuleLoadData(&m, ptx_vector_add));
        function(m, "vector_add");
        CK(cuModuleUnload(m));
        return 0;
    case 3:
        CK(cuMemHostAlloc(&h, 4096 + next_random(&l->seed) % 100000, 0));
        memset(h, 1, 4096);
        CK(cuMemFreeHost(h));
        return 0;
    case 4:
        CK(cuStreamCreate(&s, 0));
        CK(cuStreamWaitEvent(s, l->event, 0));
        CK(cuStreamSynchronize(s));
        CK(cuStreamDestroy(s));
        return 0;
    case 5:
        CK(cuLaunchHostFunc(l->stream, note, &l->called));
        CK(cuStreamSynchronize(l->stream));
        return l->called != before + 1;
    case 6:
        CK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
        return value != 32;
    case 7:
        return cuMemFree(0x1234) != CUDA_ERROR_INVALID_VALUE;
    case 8:
        return round_trip(l, l->pinned);
    default:
        return round_trip(l, l->host);
    }
}

struct thread {
    pthread_t id;
    uint32_t seed;
    long calls, wrong;
};

/* All threads ask at once for functions of one module that nobody has asked for. */
static void ask_together(void) {
    static const char *const names[] = {"fill_index", "scale", "count", "chain", "bounded"};
    CUdeviceptr out;
    CUfunction f;
    int n = 1;
    void *args[] = {&out, &n, &n};

    CK(cuMemAlloc(&out, 4));
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        pthread_barrier_wait(&all_threads);
        f = function(shared, names[i]);
        if (!i)
            CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    }
    CK(cuStreamSynchronize(NULL));
    CK(cuMemFree(out));
}

static void *run_thread(void *arg) {
    struct thread *t = arg;
    struct lane l;

    CK(cuCtxSetCurrent(context));
    ask_together();
    open_lane(&l, t->seed);
    for (; now() < end; t->calls++)
        t->wrong += something(&l);
    close_lane(&l);
    return NULL;
}

static int run_threads(int count) {
    struct thread *t = calloc((size_t)count, sizeof(*t));
    long calls = 0, wrong = 0, idle = 0;

    shared = module(ptx_basics);
    pthread_barrier_init(&all_threads, NULL, (unsigned int)count);
    for (int i = 0; i < count; i++) {
        t[i].seed = (uint32_t)i * 7919 + 1;
        if (pthread_create(&t[i].id, NULL, run_thread, &t[i]))
            exit(1);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(t[i].id, NULL);
        calls += t[i].calls;
        wrong += t[i].wrong;
        idle += !t[i].calls;
    }
    free(t);
    printf("%ld steps, %ld wrong, %ld threads did nothing\n", calls, wrong, idle);
    return wrong || idle;
}

static int run_lane(int all_kinds) {
    struct lane l;
    int wrong = 0;

    open_lane(&l, (uint32_t)getpid());
    if (all_kinds)
        puts("runs");
    do
        wrong += all_kinds ? something(&l) : round_trip(&l, l.host);
    while (now() < end);
    close_lane(&l);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}

/* The error is for this program alone, and stays. */
static int run_fault(void) {
    CUdeviceptr none = 0x10;
    int n = 1;
    void *args[] = {&none, &none, &none, &n};
    CUresult first, second;

    CK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    first = cuCtxSynchronize();
    second = cuMemAlloc(&none, 16);
    printf("fault %d then %d\n", first, second);
    return first != CUDA_ERROR_ILLEGAL_ADDRESS || second != first;
}

static int run_child(char **program) {
    int status = -1;
    pid_t child = fork();

    if (!child) {
        execv(program[0], program);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return 1;
    return status || run_lane(0);
}

static int free_memory(void) {
    size_t some, total;

    CK(cuMemGetInfo(&some, &total));
    printf("%zu\n", some >> 20);
    return 0;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";

    context = start();
    if (!strcmp(mode, "free"))
        return free_memory();
    add = function(module(ptx_vector_add), "vector_add");
    if (!strcmp(mode, "once"))
        return run_lane(0);
    if (!strcmp(mode, "fault"))
        return run_fault();
    if (!strcmp(mode, "starts") && argc > 2)
        return run_child(argv + 2);
    end = now() + (argc > 2 ? atof(argv[argc - 1]) : 600);
    if (!strcmp(mode, "threads") && argc > 3)
        return run_threads(atoi(argv[2]));
    if (!strcmp(mode, "steady"))
        return run_lane(0);
    if (!strcmp(mode, "endless"))
        return run_lane(1);
    fprintf(stderr, "soak: which mode?\n");
    return 2;
}
