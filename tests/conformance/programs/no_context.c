// SPDX-License-Identifier: Apache-2.0
/* A thread that has no context current, with what other threads made in theirs. */
#include <pthread.h>

#include "common.h"

KERNELS(basics);

static CUcontext context;
static CUstream stream;
static CUevent a, b, own;
static CUmodule loaded;
static CUfunction f;
static CUlibrary library;
static CUkernel kernel;
static CUgraph graph;
static CUgraphExec exec;
static CUdeviceptr memory;
static CUmemoryPool pool;
static CUarray array;
static void *pinned, *args[] = {&memory};

static void make(void) {
    CUDA_ARRAY_DESCRIPTOR flat = {16, 16, CU_AD_FORMAT_FLOAT, 1};
    CUgraphNode node;

    context = start();
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CK(cuEventCreate(&a, 0));
    CK(cuEventCreate(&b, 0));
    CK(cuEventCreate(&own, 0));
    CK(cuEventRecord(a, stream));
    CK(cuEventRecord(b, stream));
    loaded = module(ptx_basics);
    f = function(loaded, "write_to");
    CK(cuLibraryLoadData(&library, ptx_basics, NULL, NULL, 0, NULL, NULL, 0));
    CK(cuLibraryGetKernel(&kernel, library, "write_to"));
    CK(cuMemAlloc(&memory, 4096));
    CK(cuMemAllocHost(&pinned, 4096));
    CK(cuDeviceGetDefaultMemPool(&pool, 0));
    CK(cuArrayCreate(&array, &flat));
    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CK(cuStreamSynchronize(stream));
}

static void events(void) {
    CUevent e;
    float ms;

    printf("-- events\n");
    SHOW(cuEventCreate(&e, 0));
    SHOW(cuEventQuery(a));
    SHOW(cuEventSynchronize(a));
    SHOW(cuEventElapsedTime(&ms, a, b));
    SHOW(cuEventRecord(own, stream));
    SHOW(cuEventRecord(own, NULL));
    SHOW(cuEventRecordWithFlags(own, stream, 0));
    CK(cuStreamSynchronize(stream));
    SHOW(cuEventQuery(own));
    SHOW(cuEventQuery((CUevent)0x123456780));
    SHOW(cuEventQuery(NULL));
    SHOW(cuStreamWaitEvent(stream, a, 0));
    SHOW(cuStreamWaitEvent(NULL, a, 0));
    CK(cuStreamSynchronize(stream));
}

static void nothing(void *data) {
    (void)data;
}

static void streams(void) {
    CUstreamCaptureStatus status;
    unsigned int flags;
    int priority;
    CUcontext c;
    CUstream s;
    CUdevice d;
    unsigned long long id;

    printf("-- streams\n");
    SHOW(cuStreamCreate(&s, 0));
    SHOW(cuStreamQuery(stream));
    SHOW(cuStreamSynchronize(stream));
    SHOW(cuStreamQuery(NULL));
    SHOW(cuStreamSynchronize(NULL));
    SHOW(cuStreamQuery(CU_STREAM_LEGACY));
    SHOW(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    SHOW(cuStreamQuery((CUstream)0x123456780));
    SHOW(cuStreamGetFlags(stream, &flags));
    SHOW(cuStreamGetPriority(stream, &priority));
    SHOW(cuStreamGetId(stream, &id));
    SHOW(cuStreamGetCtx(stream, &c));
    SHOW(cuStreamGetDevice(stream, &d));
    SHOW(cuStreamGetFlags(NULL, &flags));
    SHOW(cuStreamIsCapturing(stream, &status));
    SHOW(cuStreamIsCapturing(NULL, &status));
    SHOW(cuLaunchHostFunc(stream, nothing, NULL));
    SHOW(cuLaunchHostFunc(NULL, nothing, NULL));
    SHOW(cuStreamSynchronize(stream));
}

static void launches(void) {
    printf("-- launches\n");
    SHOW(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    SHOW(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    SHOW(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    SHOW(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    SHOW(cuLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, args));
    SHOW(cuGraphLaunch(exec, stream));
    SHOW(cuGraphLaunch(exec, NULL));
    SHOW(cuGraphUpload(exec, stream));
    SHOW(cuStreamSynchronize(stream));
}

static void copies(void) {
    CUDA_MEMCPY2D flat = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = pinned,
                          .srcPitch = 64,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = memory,
                          .dstPitch = 64,
                          .WidthInBytes = 32,
                          .Height = 2};
    char bytes[64] = {0};

    printf("-- copies\n");
    SHOW(cuMemcpyHtoD(memory, bytes, sizeof(bytes)));
    SHOW(cuMemcpyDtoH(bytes, memory, sizeof(bytes)));
    SHOW(cuMemcpyHtoD(memory, pinned, 64));
    SHOW(cuMemcpyDtoD(memory, memory + 1024, 64));
    SHOW(cuMemcpy(memory, (CUdeviceptr)pinned, 64));
    SHOW(cuMemcpyHtoDAsync(memory, pinned, 64, stream));
    SHOW(cuMemcpyDtoHAsync(pinned, memory, 64, stream));
    SHOW(cuMemcpyDtoDAsync(memory, memory + 1024, 64, stream));
    SHOW(cuMemcpyAsync(memory, (CUdeviceptr)pinned, 64, stream));
    SHOW(cuMemcpyHtoDAsync(memory, bytes, 64, stream));
    SHOW(cuMemcpyHtoDAsync(memory, pinned, 64, NULL));
    SHOW(cuMemcpy2D(&flat));
    SHOW(cuMemcpy2DAsync(&flat, stream));
    SHOW(cuMemcpyHtoA(array, 0, bytes, sizeof(bytes)));
    SHOW(cuMemsetD8(memory, 1, 64));
    SHOW(cuMemsetD8Async(memory, 1, 64, stream));
    SHOW(cuMemsetD32Async(memory, 1, 16, NULL));
    SHOW(cuMemcpyPeer(memory, context, memory + 1024, context, 64));
    SHOW(cuMemcpyPeerAsync(memory, context, memory + 1024, context, 64, stream));
    SHOW(cuStreamSynchronize(stream));
}

static void memories(void) {
    CUDA_ARRAY_DESCRIPTOR flat = {16, 16, CU_AD_FORMAT_FLOAT, 1};
    CUDA_ARRAY_DESCRIPTOR got;
    CUmemLocation where = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUpointer_attribute kinds[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    unsigned int type, flags, managed;
    void *values[] = {&type}, *host;
    CUipcMemHandle shared;
    CUdeviceptr p, base;
    static char page[8192];
    CUarray other;
    size_t size, total;

    printf("-- memory\n");
    SHOW(cuMemAlloc(&p, 4096));
    SHOW(cuMemAllocPitch(&p, &size, 64, 4, 4));
    SHOW(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL));
    SHOW(cuMemAllocHost(&host, 4096));
    SHOW(cuMemHostAlloc(&host, 4096, 0));
    SHOW(cuMemHostRegister(page, 4096, 0));
    SHOW(cuMemHostGetDevicePointer(&p, pinned, 0));
    SHOW(cuMemHostGetFlags(&flags, pinned));
    SHOW(cuMemGetInfo(&size, &total));
    SHOW(cuMemGetAddressRange(&base, &size, memory));
    SHOW(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    SHOW(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
    SHOW(cuPointerGetAttributes(1, kinds, values, memory));
    SHOW(cuIpcGetMemHandle(&shared, memory));
    SHOW(cuArrayCreate(&other, &flat));
    SHOW(cuArrayGetDescriptor(&got, array));
    SHOW(cuMemAllocAsync(&p, 4096, stream));
    SHOW(cuMemAllocFromPoolAsync(&p, 4096, pool, stream));
    SHOW(cuMemFreeAsync(p, stream));
    SHOW(cuMemAllocAsync(&p, 4096, NULL));
    SHOW(cuMemPoolTrimTo(pool, 0));
    SHOW(cuMemPrefetchAsync_v2(memory, 64, where, 0, stream));
    SHOW(cuStreamSynchronize(stream));
}

static void code(void) {
    CUmodule m;
    CUfunction g;
    CUkernel k;
    CUlibrary l;
    CUdeviceptr p;
    const char *name;
    size_t size;
    int value, blocks, block;

    printf("-- code\n");
    SHOW(cuModuleLoadData(&m, ptx_basics));
    SHOW(cuModuleGetFunction(&g, loaded, "count"));
    SHOW(cuModuleGetGlobal(&p, &size, loaded, "counter"));
    SHOW(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
    SHOW(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    SHOW(cuFuncSetCacheConfig(f, CU_FUNC_CACHE_PREFER_NONE));
    SHOW(cuFuncGetModule(&m, f));
    SHOW(cuFuncGetName(&name, f));
    SHOW(cuFuncLoad(f));
    SHOW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 32, 0));
    SHOW(cuOccupancyMaxPotentialBlockSize(&blocks, &block, f, NULL, 0, 0));
    SHOW(cuLibraryLoadData(&l, ptx_basics, NULL, NULL, 0, NULL, NULL, 0));
    SHOW(cuLibraryUnload(l));
    SHOW(cuLibraryGetKernel(&k, library, "count"));
    SHOW(cuLibraryGetModule(&m, library));
    SHOW(cuLibraryGetGlobal(&p, &size, library, "counter"));
    SHOW(cuKernelGetFunction(&g, kernel));
    SHOW(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0));
    SHOW(cuKernelGetName(&name, kernel));
}

static void graphs(void) {
    CUgraphExec other;
    CUgraph captured;
    CUgraphNode node;
    size_t count;

    printf("-- graphs\n");
    SHOW(cuGraphCreate(&captured, 0));
    SHOW(cuGraphAddEmptyNode(&node, captured, NULL, 0));
    SHOW(cuGraphGetNodes(graph, NULL, &count));
    SHOW(cuGraphInstantiateWithFlags(&other, graph, 0));
    SHOW(cuGraphExecDestroy(other));
    SHOW(cuGraphDestroy(captured));
    SHOW(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SHOW(cuEventRecord(own, stream));
    SHOW(cuStreamEndCapture(stream, &captured));
}

static void contexts(void) {
    size_t limit;
    CUdevice d;
    CUcontext c = (CUcontext)8;
    int least, most;
    unsigned int flags;

    printf("-- contexts\n");
    SHOW(cuCtxGetCurrent(&c));
    printf("none: %d\n", c == NULL);
    SHOW(cuCtxGetDevice(&d));
    SHOW(cuCtxSynchronize());
    SHOW(cuCtxGetFlags(&flags));
    SHOW(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    SHOW(cuCtxGetStreamPriorityRange(&least, &most));
    SHOW(cuCtxSynchronize_v2(context));
    SHOW(cuCtxGetDevice_v2(&d, context));
    SHOW(cuCtxGetDevice_v2(&d, NULL));
}

static void endings(void) {
    printf("-- endings\n");
    SHOW(cuMemFree(memory));
    SHOW(cuMemFreeHost(pinned));
    SHOW(cuArrayDestroy(array));
    SHOW(cuEventDestroy(own));
    SHOW(cuStreamDestroy(stream));
    SHOW(cuGraphExecDestroy(exec));
    SHOW(cuGraphDestroy(graph));
    SHOW(cuModuleUnload(loaded));
    SHOW(cuLibraryUnload(library));
}

static void *other_thread(void *unused) {
    (void)unused;
    contexts();
    events();
    streams();
    launches();
    copies();
    memories();
    code();
    graphs();
    endings();
    contexts();
    return NULL;
}

int main(void) {
    pthread_t other;

    make();
    if (pthread_create(&other, NULL, other_thread, NULL))
        return 1;
    pthread_join(other, NULL);
    SHOW(cuCtxSynchronize());
    return 0;
}
