// SPDX-License-Identifier: Apache-2.0
/*
 * usage: ends CASE   One program of the tests in ./run: contexts that end, and
 * what was made in them, beside calls of other threads. Exits with 0 if all calls
 * gave what they must.
 */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "cases.h"
#include "common.h"

KERNELS(basics);

/* ---- a context that ends while other threads make calls in it ---- */

enum { THREADS = 6, ROUNDS = 60, KERNELS_EACH = 8 };

static CUcontext context;
static CUmodule code;
static CUlibrary library;
static CUstream stream;
static CUevent event;
static pthread_barrier_t barrier;

/* Natively as well none of these is told more than that something is wrong. */
static void launch(CUfunction f) {
    if (f)
        cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void use_module(void) {
    CUfunction functions[KERNELS_EACH] = {NULL};
    int registers, blocks;

    cuModuleEnumerateFunctions(functions, KERNELS_EACH, code);
    cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, functions[0]);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, functions[1], 32, 0);
}

static void use_library(void) {
    CUkernel kernels[KERNELS_EACH] = {NULL};
    CUfunction f;
    CUmodule m;

    cuLibraryEnumerateKernels(kernels, KERNELS_EACH, library);
    for (int k = 0; k < KERNELS_EACH; k++)
        cuKernelGetFunction(&f, kernels[k]);
    cuLibraryGetModule(&m, library);
}

static void use_count(void) {
    CUfunction f = NULL;

    cuModuleGetFunction(&f, code, "count");
    launch(f);
}

static void load_more(void) {
    CUfunction f = NULL;
    CUmodule m;

    if (cuModuleLoadData(&m, ptx_basics) != CUDA_SUCCESS)
        return;
    cuModuleGetFunction(&f, m, "count");
    launch(f);
    cuModuleUnload(m);
}

static void use_events(void) {
    CUevent e;

    cuEventRecord(event, stream);
    cuStreamWaitEvent(stream, event, 0);
    if (cuEventCreate(&e, 0) != CUDA_SUCCESS)
        return;
    cuEventRecord(e, stream);
    cuEventSynchronize(e);
    cuEventDestroy(e);
}

static void use_streams(void) {
    CUstream s;

    if (cuStreamCreate(&s, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
        return;
    cuStreamSynchronize(s);
    cuStreamDestroy(s);
}

static void (*const uses[])(void) = {use_module, use_library, use_count,
                                     load_more,  use_events,  use_streams};

static void *call_until_it_ends(void *first) {
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        CK(cuCtxSetCurrent(context));
        /* What was posted may have been wrong: that is told once. */
        for (size_t i = (size_t)first; cuCtxSynchronize() != CUDA_ERROR_CONTEXT_IS_DESTROYED; i++)
            uses[i % (sizeof(uses) / sizeof(uses[0]))]();
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void begin_plain(void) {
    CK(cuCtxCreate(&context, NULL, 0, 0));
}

static void end_plain(void) {
    CK(cuCtxDestroy(context));
}

static void begin_primary(void) {
    CK(cuDevicePrimaryCtxRetain(&context, 0));
    CK(cuCtxSetCurrent(context));
}

static void end_primary(void) {
    CK(cuDevicePrimaryCtxRelease(0));
}

static void end_primary_by_reset(void) {
    CK(cuDevicePrimaryCtxReset(0));
}

/* The program lives, and all that it makes in the next context is as new. */
static int beside_calls(void (*begin)(void), void (*end)(void)) {
    pthread_t threads[THREADS];
    uint32_t seed = 1;

    CK(cuInit(0));
    CK(cuLibraryLoadData(&library, ptx_basics, NULL, NULL, 0, NULL, NULL, 0));
    EXPECT(!pthread_barrier_init(&barrier, NULL, THREADS + 1));
    for (size_t i = 0; i < THREADS; i++)
        EXPECT(!pthread_create(&threads[i], NULL, call_until_it_ends, (void *)i));
    for (int round = 0; round < ROUNDS; round++) {
        begin();
        code = module(ptx_basics);
        CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        CK(cuEventCreate(&event, 0));
        pthread_barrier_wait(&barrier);
        usleep(next_random(&seed) % 8000);
        end();
        pthread_barrier_wait(&barrier);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static int case_destroyed_beside_calls(void) {
    return beside_calls(begin_plain, end_plain);
}

static int case_released_beside_calls(void) {
    return beside_calls(begin_primary, end_primary);
}

static int case_reset_beside_calls(void) {
    return beside_calls(begin_primary, end_primary_by_reset);
}

/* ---- streams of green contexts ---- */

static CUgreenCtx new_green(void) {
    CUdevResource all, part;
    CUdevResourceDesc desc;
    unsigned int parts = 1;
    CUgreenCtx green;

    CK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    CK(cuDevSmResourceSplitByCount(&part, &parts, &all, NULL, 0, 2));
    CK(cuDevResourceGenerateDesc(&desc, &part, 1));
    CK(cuGreenCtxCreate(&green, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

/* A stream is its green context's, and not of the one in which it was asked for. */
static int case_green_streams(void) {
    CUgreenCtx green;
    CUcontext other;
    CUstream s;

    CK(cuInit(0));
    green = new_green();
    CK(cuCtxCreate(&other, NULL, 0, 0));
    CK(cuGreenCtxStreamCreate(&s, green, CU_STREAM_NON_BLOCKING, 0));
    CK(cuCtxDestroy(other));
    CK(cuStreamSynchronize(s));
    CK(cuGreenCtxDestroy(green));
    start();
    for (int i = 0; i < 4; i++) {
        green = new_green();
        CK(cuGreenCtxStreamCreate(&s, green, CU_STREAM_NON_BLOCKING, 0));
        CK(cuStreamSynchronize(s));
        CK(cuGreenCtxDestroy(green));
    }
    return 0;
}

/* ---- user objects ---- */

static sem_t ended;

static void post_end(void *unused) {
    (void)unused;
    sem_post(&ended);
}

/* Twice the same, and what the worker holds is looked at in between. */
static int case_user_objects(void) {
    enum { OBJECTS = 4000 };
    CUuserObject o;

    start();
    sem_init(&ended, 0, 0);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < OBJECTS; i++) {
            CK(cuUserObjectCreate(&o, NULL, post_end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
            CK(cuUserObjectRelease(o, 1));
            sem_wait(&ended);
        }
        puts("ended");
        getchar();
    }
    return 0;
}

/* ---- linkers ---- */

/* It can be destroyed, and what it made read until then, wherever its context is. */
static int case_linker_outlives(void) {
    CUcontext own;
    CUlinkState l;
    size_t bytes;
    void *cubin;

    start();
    CK(cuCtxCreate(&own, NULL, 0, 0));
    CK(cuLinkCreate(0, NULL, NULL, &l));
    CK(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)ptx_basics, strlen(ptx_basics) + 1, "basics", 0,
                     NULL, NULL));
    CK(cuLinkComplete(l, &cubin, &bytes));
    CK(cuCtxDestroy(own));
    module(cubin);
    CK(cuLinkDestroy(l));
    EXPECT(cuLinkDestroy(l) == CUDA_ERROR_INVALID_VALUE);
    return 0;
}

static const struct process_case cases[] = {
    {"destroyed-beside-calls", case_destroyed_beside_calls},
    {"released-beside-calls", case_released_beside_calls},
    {"reset-beside-calls", case_reset_beside_calls},
    {"green-streams", case_green_streams},
    {"linker-outlives", case_linker_outlives},
    {"user-objects", case_user_objects},
    {0},
};

int main(int argc, char **argv) {
    return run_case(cases, argc, argv);
}
