// SPDX-License-Identifier: Apache-2.0
/* What a capture forbids to its own thread and to others, by their modes. */
#include <dlfcn.h>
#include <pthread.h>

#include "common.h"

KERNELS(basics);

static CUstream stream, idle;
static CUevent event;
static CUdeviceptr x, kept;
static CUmodule loaded;
static CUfunction fill_index;
static CUcontext context;
static char pageable[4096];

/* Each a call that could upset a capture. */
static CUresult do_alloc(void) {
    CUdeviceptr d;
    CUresult r = cuMemAlloc(&d, 256);

    return r == CUDA_SUCCESS ? cuMemFree(d) : r;
}

static CUresult do_free(void) {
    return cuMemFree(kept);
}

static CUresult do_host_alloc(void) {
    void *p;
    CUresult r = cuMemHostAlloc(&p, 4096, 0);

    return r == CUDA_SUCCESS ? cuMemFreeHost(p) : r;
}

static CUresult do_pitch(void) {
    CUdeviceptr d;
    size_t pitch;
    CUresult r = cuMemAllocPitch(&d, &pitch, 100, 4, 4);

    return r == CUDA_SUCCESS ? cuMemFree(d) : r;
}

static CUresult do_info(void) {
    size_t a, b;

    return cuMemGetInfo(&a, &b);
}

static CUresult do_event_query(void) {
    return cuEventQuery(event);
}

static CUresult do_event_sync(void) {
    return cuEventSynchronize(event);
}

static CUresult do_event_record(void) {
    return cuEventRecord(event, idle);
}

static CUresult do_event_new(void) {
    CUevent e;
    CUresult r = cuEventCreate(&e, 0);

    return r == CUDA_SUCCESS ? cuEventDestroy(e) : r;
}

static CUresult do_elapsed(void) {
    float ms;

    return cuEventElapsedTime(&ms, event, event);
}

static CUresult do_stream_query(void) {
    return cuStreamQuery(idle);
}

static CUresult do_stream_sync(void) {
    return cuStreamSynchronize(idle);
}

static CUresult do_stream_new(void) {
    CUstream s;
    CUresult r = cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);

    return r == CUDA_SUCCESS ? cuStreamDestroy(s) : r;
}

static CUresult do_ctx_sync(void) {
    return cuCtxSynchronize();
}

static CUresult do_load(void) {
    CUmodule m;
    CUresult r = cuModuleLoadData(&m, ptx_basics);

    return r == CUDA_SUCCESS ? cuModuleUnload(m) : r;
}

static CUresult do_function(void) {
    CUfunction f;

    return cuModuleGetFunction(&f, loaded, "count");
}

static CUresult do_global(void) {
    CUdeviceptr d;

    return cuModuleGetGlobal(&d, NULL, loaded, "counter");
}

static CUresult do_up(void) {
    return cuMemcpyHtoD(x, pageable, 4);
}

static CUresult do_down(void) {
    return cuMemcpyDtoH(pageable, x, 4);
}

static CUresult do_across(void) {
    return cuMemcpyDtoD(x, x + 128, 4);
}

static CUresult do_fill(void) {
    return cuMemsetD32(x, 1, 4);
}

static CUresult do_up_async(void) {
    return cuMemcpyHtoDAsync(x, pageable, 4, idle);
}

static CUresult do_down_async(void) {
    return cuMemcpyDtoHAsync(pageable, x, 4, idle);
}

static CUresult do_fill_async(void) {
    return cuMemsetD32Async(x, 1, 4, idle);
}

static CUresult do_launch(void) {
    return cuLaunchKernel(fill_index, 1, 1, 1, 1, 1, 1, 0, idle,
                          (void *[]){&x, &(int){1}, &(int){1}}, NULL);
}

static CUresult do_limit(void) {
    return cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048);
}

static CUresult do_limit_get(void) {
    size_t v;

    return cuCtxGetLimit(&v, CU_LIMIT_STACK_SIZE);
}

static CUresult do_attribute(void) {
    int v;

    return cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, fill_index);
}

static CUresult do_occupancy(void) {
    int v;

    return cuOccupancyMaxActiveBlocksPerMultiprocessor(&v, fill_index, 64, 0);
}

static CUresult do_retain(void) {
    CUcontext c;
    CUresult r = cuDevicePrimaryCtxRetain(&c, 0);

    return r == CUDA_SUCCESS ? cuDevicePrimaryCtxRelease(0) : r;
}

static CUresult do_pointer(void) {
    unsigned int type;

    return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, x);
}

static CUresult do_graph(void) {
    CUgraph g;
    CUgraphExec e;
    CUresult r = cuGraphCreate(&g, 0);

    if (r == CUDA_SUCCESS)
        r = cuGraphInstantiateWithFlags(&e, g, 0);
    if (r == CUDA_SUCCESS)
        r = cuGraphLaunch(e, idle);
    if (r == CUDA_SUCCESS)
        r = cuGraphExecDestroy(e);
    cuGraphDestroy(g);
    return r;
}

/* Where a library has the call at all. */
static CUresult do_alloc_async(void) {
    CUresult (*alloc)(CUdeviceptr *, size_t, CUstream) =
        (CUresult(*)(CUdeviceptr *, size_t, CUstream))dlsym(RTLD_DEFAULT, "cuMemAllocAsync");
    CUresult (*release)(CUdeviceptr, CUstream) =
        (CUresult(*)(CUdeviceptr, CUstream))dlsym(RTLD_DEFAULT, "cuMemFreeAsync");
    CUdeviceptr d;
    CUresult r = alloc && release ? alloc(&d, 256, idle) : CUDA_ERROR_NOT_SUPPORTED;

    return r == CUDA_SUCCESS ? release(d, idle) : r;
}

static CUresult do_register(void) {
    static char area[8192] __attribute__((aligned(4096)));
    CUresult (*add)(void *, size_t, unsigned int) =
        (CUresult(*)(void *, size_t, unsigned int))dlsym(RTLD_DEFAULT, "cuMemHostRegister_v2");
    CUresult (*end)(void *) = (CUresult(*)(void *))dlsym(RTLD_DEFAULT, "cuMemHostUnregister");
    CUresult r = add && end ? add(area, 4096, 0) : CUDA_ERROR_NOT_SUPPORTED;

    return r == CUDA_SUCCESS ? end(area) : r;
}

static CUresult do_managed(void) {
    CUresult (*alloc)(CUdeviceptr *, size_t, unsigned int) =
        (CUresult(*)(CUdeviceptr *, size_t, unsigned int))dlsym(RTLD_DEFAULT, "cuMemAllocManaged");
    CUdeviceptr d;
    CUresult r = alloc ? alloc(&d, 256, CU_MEM_ATTACH_GLOBAL) : CUDA_ERROR_NOT_SUPPORTED;

    return r == CUDA_SUCCESS ? cuMemFree(d) : r;
}

#define CALL(name)                                                                                 \
    { #name, do_##name }
static const struct {
    const char *name;
    CUresult (*call)(void);
} calls[] = {
    CALL(alloc),        CALL(free),        CALL(host_alloc),   CALL(pitch),      CALL(info),
    CALL(event_query),  CALL(event_sync),  CALL(event_record), CALL(event_new),  CALL(elapsed),
    CALL(stream_query), CALL(stream_sync), CALL(stream_new),   CALL(ctx_sync),   CALL(load),
    CALL(function),     CALL(global),      CALL(up),           CALL(down),       CALL(across),
    CALL(fill),         CALL(up_async),    CALL(down_async),   CALL(fill_async), CALL(launch),
    CALL(limit),        CALL(limit_get),   CALL(attribute),    CALL(occupancy),  CALL(retain),
    CALL(pointer),      CALL(graph),       CALL(alloc_async),  CALL(register),   CALL(managed)};

struct probe {
    int call;
    CUstreamCaptureMode mode; /* of the thread that makes it */
    CUresult result;
    CUresult end; /* of a capture that another thread began */
};

static void *elsewhere(void *arg) {
    struct probe *p = arg;
    CUstreamCaptureMode mode = p->mode;

    CK(cuCtxSetCurrent(context));
    CK(cuThreadExchangeStreamCaptureMode(&mode));
    p->result = calls[p->call].call();
    return NULL;
}

/* One line: what each call said, and what then became of the capture. */
static void probe(int call, CUstreamCaptureMode capture, CUstreamCaptureMode mode, int thread) {
    struct probe p = {.call = call, .mode = mode};
    CUstreamCaptureMode exchanged = mode;
    CUgraph graph = NULL;
    CUresult end;

    CK(cuMemAlloc(&kept, 256));
    CK(cuStreamBeginCapture(stream, capture));
    if (thread) {
        pthread_t other;

        pthread_create(&other, NULL, elsewhere, &p);
        pthread_join(other, NULL);
    } else {
        CK(cuThreadExchangeStreamCaptureMode(&exchanged));
        p.result = calls[call].call();
        CK(cuThreadExchangeStreamCaptureMode(&exchanged));
    }
    end = cuStreamEndCapture(stream, &graph);
    printf("  %d/%d", p.result, end);
    if (graph)
        CK(cuGraphDestroy(graph));
    cuMemFree(kept);
    CK(cuEventRecord(event, idle));
    CK(cuCtxSynchronize());
}

static void *end_elsewhere(void *arg) {
    CUgraph graph;

    CK(cuCtxSetCurrent(context));
    *(CUresult *)arg = cuStreamEndCapture(stream, &graph);
    return NULL;
}

static void *launch_elsewhere(void *arg) {
    CK(cuCtxSetCurrent(context));
    *(CUresult *)arg = cuLaunchKernel(fill_index, 1, 1, 1, 1, 1, 1, 0, stream,
                                      (void *[]){&x, &(int){1}, &(int){1}}, NULL);
    return NULL;
}

static void exchange(void) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    SHOW(cuThreadExchangeStreamCaptureMode(&mode));
    printf("was %d\n", mode);
    mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    SHOW(cuThreadExchangeStreamCaptureMode(&mode));
    printf("was %d\n", mode);
    mode = 3;
    SHOW(cuThreadExchangeStreamCaptureMode(&mode));
    printf("is %d\n", mode);
    mode = -1;
    SHOW(cuThreadExchangeStreamCaptureMode(&mode));
    SHOW(cuThreadExchangeStreamCaptureMode(NULL));
    mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    SHOW(cuThreadExchangeStreamCaptureMode(&mode));
    printf("was %d\n", mode);
}

int main(void) {
    const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                         CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                         CU_STREAM_CAPTURE_MODE_RELAXED};

    exchange();
    context = start();
    loaded = module(ptx_basics);
    fill_index = function(loaded, "fill_index");
    CK(cuMemAlloc(&x, 4096));
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CK(cuStreamCreate(&idle, CU_STREAM_NON_BLOCKING));
    CK(cuEventCreate(&event, 0));
    CK(cuEventRecord(event, idle));
    do_launch();
    CK(cuCtxSynchronize());
    printf("-- its own thread: capture mode by thread mode\n");
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        printf("%s", calls[i].name);
        for (int c = 0; c < 3; c++)
            for (int t = 0; t < 3; t++)
                probe((int)i, modes[c], modes[t], 0);
        printf("\n");
    }
    printf("-- another thread\n");
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        printf("%s", calls[i].name);
        for (int c = 0; c < 3; c++)
            for (int t = 0; t < 3; t++)
                probe((int)i, modes[c], modes[t], 1);
        printf("\n");
    }
    printf("-- ended by another thread\n");
    for (int c = 0; c < 3; c++) {
        CUstreamCaptureStatus status;
        CUresult launched, ended;
        CUgraph graph = NULL;
        pthread_t other;

        CK(cuStreamBeginCapture(stream, modes[c]));
        pthread_create(&other, NULL, launch_elsewhere, &launched);
        pthread_join(other, NULL);
        pthread_create(&other, NULL, end_elsewhere, &ended);
        pthread_join(other, NULL);
        CK(cuStreamIsCapturing(stream, &status));
        printf("mode %d: launch %d end %d status %d\n", modes[c], launched, ended, status);
        printf("  then %d\n", cuStreamEndCapture(stream, &graph));
    }
    return 0;
}
