// SPDX-License-Identifier: Apache-2.0
/* Wrong arguments, wrong moments, optional pointers: the result of each call is the test. */
#include "common.h"

KERNELS(basics);

static void before_init(void) {
    CUcontext c;
    CUdevice d;
    int n;

    puts("-- before cuInit");
    SHOW(cuDeviceGetCount(&n));
    SHOW(cuDeviceGet(&d, 0));
    SHOW(cuCtxGetCurrent(&c));
    SHOW(cuCtxSynchronize());
    SHOW(cuMemFree(0));
    SHOW(cuDriverGetVersion(&n));
    SHOW(cuDriverGetVersion(NULL));
    SHOW(cuInit(1));
    SHOW(cuInit(0));
    SHOW(cuInit(0));
}

static void without_context(void) {
    CUdeviceptr p;
    CUcontext c;
    CUstream s;
    CUevent e;
    size_t bytes;

    puts("-- without a context");
    SHOW(cuCtxGetCurrent(&c));
    printf("current %p\n", (void *)c);
    SHOW(cuCtxSynchronize());
    SHOW(cuMemAlloc(&p, 16));
    SHOW(cuMemGetInfo(&bytes, &bytes));
    SHOW(cuStreamCreate(&s, 0));
    SHOW(cuEventCreate(&e, 0));
    SHOW(cuCtxPopCurrent(&c));
    SHOW(cuCtxPushCurrent(NULL));
    SHOW(cuCtxSetCurrent(NULL));
}

static void devices(void) {
    char name[64];
    size_t bytes;
    CUdevice d;
    int n, a, b;

    puts("-- devices");
    SHOW(cuDeviceGetCount(NULL));
    SHOW(cuDeviceGetCount(&n));
    SHOW(cuDeviceGet(NULL, 0));
    SHOW(cuDeviceGet(&d, -1));
    SHOW(cuDeviceGet(&d, n));
    SHOW(cuDeviceGetName(NULL, 10, 0));
    SHOW(cuDeviceGetName(name, sizeof(name), 1000));
    SHOW(cuDeviceTotalMem(&bytes, 1000));
    SHOW(cuDeviceTotalMem(NULL, 0));
    SHOW(cuDeviceGetAttribute(&a, 0, 0));
    SHOW(cuDeviceGetAttribute(&a, 100000, 0));
    SHOW(cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    SHOW(cuDeviceGetAttribute(&a, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    printf("warp %d\n", a);
    SHOW(cuDeviceComputeCapability(&a, &b, 0));
    SHOW(cuDeviceComputeCapability(&a, &b, -1));
    printf("capability %d.%d\n", a, b);
    SHOW(cuDeviceCanAccessPeer(&a, 0, 0));
    printf("peer of itself %d\n", a);
    SHOW(cuDeviceGetPCIBusId(name, sizeof(name), 0));
    SHOW(cuDeviceGetByPCIBusId(&d, name));
    printf("found by bus id: %d\n", d);
    SHOW(cuDeviceGetByPCIBusId(&d, "nonsense"));
    SHOW(cuDeviceGetByPCIBusId(&d, "00ff:ff:1f.0"));
}

static void memory(void) {
    CUdeviceptr p, base;
    size_t total = 0, bytes = 0;
    void *h;

    puts("-- memory");
    SHOW(cuMemAlloc(&p, 0));
    SHOW(cuMemAlloc(NULL, 16));
    SHOW(cuMemAlloc(&p, (size_t)1 << 60));
    SHOW(cuMemGetInfo(NULL, &total));
    SHOW(cuMemGetInfo(&bytes, NULL));
    printf("total %s\n", total ? "known" : "unknown");
    SHOW(cuMemFree(0));
    SHOW(cuMemFree(0x1234));
    SHOW(cuMemAlloc(&p, 1000));
    SHOW(cuMemFree(p + 4));
    SHOW(cuMemGetAddressRange(&base, NULL, p + 10));
    SHOW(cuMemGetAddressRange(NULL, &bytes, p + 10));
    printf("range %s %zu\n", base == p ? "starts right" : "WRONG", bytes);
    SHOW(cuMemGetAddressRange(NULL, NULL, 0x1234));
    SHOW(cuMemsetD32(p + 2, 0, 1));
    SHOW(cuMemsetD16(p + 1, 0, 1));
    SHOW(cuMemsetD8(p, 0, 0));
    SHOW(cuMemcpyHtoD(p, "x", 0));
    SHOW(cuMemcpyDtoH(&bytes, p, 8));
    SHOW(cuMemFree(p));
    SHOW(cuMemFree(p));
    SHOW(cuMemAllocHost(&h, 0));
    SHOW(cuMemHostAlloc(NULL, 16, 0));
    SHOW(cuMemHostAlloc(&h, 16, 0x80));
    SHOW(cuMemHostAlloc(&h, 16, 0));
    SHOW(cuMemFreeHost((char *)h + 8));
    SHOW(cuMemFreeHost(h));
    SHOW(cuMemFreeHost(h));
    SHOW(cuMemFreeHost(&bytes));
}

static void modules(void) {
    CUdeviceptr p = 0;
    CUfunction f, g;
    CUmodule m;
    size_t bytes = 0;
    int a;

    puts("-- modules");
    SHOW(cuModuleLoadData(&m, "this is not PTX"));
    SHOW(cuModuleLoadData(&m, NULL));
    SHOW(cuModuleLoadData(NULL, ptx_basics));
    SHOW(cuModuleLoadData(&m, ptx_basics));
    SHOW(cuModuleLoad(&m, "/nonexistent/file.ptx"));
    m = module(ptx_basics);
    SHOW(cuModuleGetFunction(&f, m, "no_such"));
    SHOW(cuModuleGetFunction(&f, m, NULL));
    SHOW(cuModuleGetFunction(NULL, m, "count"));
    SHOW(cuModuleGetFunction(&f, m, "count"));
    SHOW(cuModuleGetFunction(&g, m, "count"));
    printf("the same function %s\n", f == g ? "yes" : "no");
    SHOW(cuModuleGetGlobal(&p, NULL, m, "counter"));
    SHOW(cuModuleGetGlobal(NULL, &bytes, m, "table"));
    printf("global %s, %zu bytes\n", p ? "there" : "missing", bytes);
    SHOW(cuModuleGetGlobal(NULL, NULL, m, "table"));
    SHOW(cuModuleGetGlobal(&p, &bytes, m, "no_such"));
    SHOW(cuModuleGetGlobal(&p, &bytes, m, NULL));
    SHOW(cuFuncGetAttribute(&a, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
    SHOW(cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
    SHOW(cuFuncGetAttribute(&a, 1000, f));
    SHOW(cuModuleUnload(m));
}

static void launches(void) {
    CUmodule m = module(ptx_basics);
    CUfunction f = function(m, "count"), bounded = function(m, "bounded");
    CUdeviceptr p;
    void *args[] = {&p};

    puts("-- launches");
    CK(cuMemAlloc(&p, 1024));
    SHOW(cuLaunchKernel(bounded, 1, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
    SHOW(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 49153, NULL, NULL, NULL));
    SHOW(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SHOW(cuCtxSynchronize());
    SHOW(cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    SHOW(cuLaunchKernel(f, 1, 1, 1, 2048, 1, 1, 0, NULL, NULL, NULL));
    SHOW(cuLaunchKernel(f, 1, 1, 1, 0, 1, 1, 0, NULL, NULL, NULL));
    SHOW(cuLaunchKernel(f, 1, 1, 1, 512, 512, 1, 0, NULL, NULL, NULL));
    SHOW(cuLaunchKernel(f, 1, 70000, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SHOW(cuLaunchKernel(f, 1, 1, 1, 1, 1, 128, 0, NULL, NULL, NULL));
    SHOW(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 1 << 30, NULL, NULL, NULL));
    SHOW(cuCtxSynchronize());
    SHOW(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    SHOW(cuCtxSynchronize());
}

static void streams_and_events(void) {
    CUstream s;
    CUevent e, g;
    float ms;
    int low, high;

    puts("-- streams and events");
    SHOW(cuStreamCreate(NULL, 0));
    SHOW(cuStreamCreate(&s, 8));
    SHOW(cuCtxGetStreamPriorityRange(&low, NULL));
    SHOW(cuCtxGetStreamPriorityRange(NULL, &high));
    SHOW(cuEventCreate(NULL, 0));
    SHOW(cuEventCreate(&e, 0x100));
    SHOW(cuEventCreate(&e, CU_EVENT_INTERPROCESS));
    SHOW(cuEventCreate(&e, 0));
    SHOW(cuEventCreate(&g, CU_EVENT_DISABLE_TIMING));
    SHOW(cuEventQuery(e));
    SHOW(cuEventSynchronize(e));
    SHOW(cuEventElapsedTime(&ms, e, e));
    SHOW(cuEventRecord(e, NULL));
    SHOW(cuEventRecord(g, NULL));
    SHOW(cuEventSynchronize(e));
    SHOW(cuEventSynchronize(g));
    SHOW(cuEventElapsedTime(&ms, e, e));
    printf("elapsed %.1f\n", ms);
    SHOW(cuEventElapsedTime(&ms, e, g));
    SHOW(cuEventElapsedTime(NULL, e, e));
    SHOW(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    SHOW(cuStreamQuery(s));
    SHOW(cuStreamWaitEvent(s, e, 0));
    SHOW(cuStreamSynchronize(s));
    SHOW(cuStreamDestroy(s));
    SHOW(cuEventDestroy(e));
    SHOW(cuEventDestroy(g));
}

static void names(void) {
    const char *text = NULL;

    puts("-- names of errors");
    SHOW(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
    puts(text);
    SHOW(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    puts(text);
    SHOW(cuGetErrorString((CUresult)12345, &text));
    printf("%s\n", text ? text : "(null)");
}

int main(void) {
    CUcontext c;

    before_init();
    without_context();
    devices();
    CK(cuDevicePrimaryCtxRetain(&c, 0));
    CK(cuCtxSetCurrent(c));
    memory();
    modules();
    launches();
    streams_and_events();
    names();
    return 0;
}
