// SPDX-License-Identifier: Apache-2.0
/* A context that was destroyed, what was made in it, and none where one is asked for. */
#include "common.h"

KERNELS(basics);

static CUcontext primary, dead;

/* Made in a context that then ends. */
static CUstream stream;
static CUevent event;
static CUmodule module_of_it;
static CUfunction f;
static CUdeviceptr memory;
static void *pinned;

static void make_and_end(void) {
    primary = start();
    CK(cuCtxCreate(&dead, NULL, 0, 0));
    CK(cuStreamCreate(&stream, 0));
    CK(cuEventCreate(&event, 0));
    CK(cuEventRecord(event, stream));
    module_of_it = module(ptx_basics);
    f = function(module_of_it, "write_to");
    CK(cuMemAlloc(&memory, 4096));
    CK(cuMemAllocHost(&pinned, 4096));
    CK(cuCtxDestroy(dead));
    CK(cuCtxSetCurrent(primary));
}

static void the_context(void) {
    unsigned long long id;
    unsigned int version;
    CUdevice device;
    CUevent own;

    make_and_end();
    CK(cuEventCreate(&own, 0));
    SHOW(cuCtxSetCurrent(dead));
    SHOW(cuCtxPushCurrent(dead));
    SHOW(cuCtxGetApiVersion(dead, &version));
    SHOW(cuCtxGetId(dead, &id));
    SHOW(cuCtxGetDevice_v2(&device, dead));
    SHOW(cuCtxSynchronize_v2(dead));
    SHOW(cuCtxRecordEvent(dead, own));
    SHOW(cuCtxWaitEvent(dead, own));
    SHOW(cuCtxEnablePeerAccess(dead, 0));
    SHOW(cuCtxDetach(dead));
    SHOW(cuCtxDestroy(dead));
    SHOW(cuCtxDestroy(dead));
    SHOW(cuCtxDestroy(primary));
    SHOW(cuCtxSynchronize());
}

static void its_objects(void) {
    CUcontext c;
    CUevent own;
    CUstream ours;
    float ms;
    void *args[] = {&memory};

    make_and_end();
    CK(cuEventCreate(&own, 0));
    CK(cuStreamCreate(&ours, 0));
    SHOW(cuStreamQuery(stream));
    SHOW(cuStreamSynchronize(stream));
    SHOW(cuStreamGetCtx(stream, &c));
    SHOW(cuEventRecord(own, stream));
    SHOW(cuStreamWaitEvent(stream, own, 0));
    SHOW(cuStreamDestroy(stream));
    SHOW(cuStreamDestroy(stream));
    SHOW(cuEventQuery(event));
    SHOW(cuEventSynchronize(event));
    SHOW(cuEventRecord(event, ours));
    SHOW(cuStreamWaitEvent(ours, event, 0));
    SHOW(cuEventElapsedTime(&ms, event, own));
    SHOW(cuEventDestroy(event));
    SHOW(cuEventDestroy(event));
    SHOW(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, ours, args, NULL));
    SHOW(cuModuleGetFunction(&f, module_of_it, "write_to"));
    SHOW(cuModuleUnload(module_of_it));
    SHOW(cuMemsetD32(memory, 0, 1));
    SHOW(cuMemFree(memory));
    SHOW(cuMemFreeHost(pinned));
    SHOW(cuCtxSynchronize());
}

static void while_current(void) {
    unsigned int flags;
    CUdevice device;
    CUcontext c;
    CUevent e;

    start();
    CK(cuCtxCreate(&dead, NULL, 0, 0));
    CK(cuCtxPushCurrent(dead));
    SHOW(cuCtxDestroy(dead));
    SHOW(cuCtxGetCurrent(&c));
    printf("current is it: %d\n", c == dead);
    SHOW(cuCtxGetDevice(&device));
    SHOW(cuCtxGetFlags(&flags));
    SHOW(cuCtxSynchronize());
    SHOW(cuMemAlloc(&memory, 4));
    SHOW(cuEventCreate(&e, 0));
    SHOW(cuStreamQuery(NULL));
    SHOW(cuCtxPopCurrent(&c));
    printf("popped is it: %d\n", c == dead);
    SHOW(cuCtxSynchronize());
}

static void none(void) {
    CUcontext context = start();
    CUdeviceptr d, e;
    CUdevice device;
    CUstream s;

    CK(cuMemAlloc(&d, 64));
    CK(cuMemAlloc(&e, 64));
    CK(cuStreamCreate(&s, 0));
    SHOW(cuMemcpyPeerAsync(d, NULL, e, context, 16, s));
    SHOW(cuMemcpyPeerAsync(d, context, e, NULL, 16, s));
    SHOW(cuMemcpyPeerAsync(d, NULL, e, NULL, 16, s));
    SHOW(cuStreamSynchronize(s));
    SHOW(cuCtxPushCurrent(NULL));
    SHOW(cuCtxDestroy(NULL));
    SHOW(cuCtxDetach(NULL));
    SHOW(cuCtxEnablePeerAccess(NULL, 0));
    SHOW(cuCtxGetDevice_v2(&device, NULL));
    SHOW(cuCtxSetCurrent(NULL));
    SHOW(cuMemcpyPeer(d, context, e, context, 16));
    SHOW(cuCtxGetDevice_v2(&device, NULL));
    SHOW(cuCtxPopCurrent(&context));
}

int main(void) {
    apart("a destroyed context", the_context);
    apart("what was made in it", its_objects);
    apart("destroyed while it is current", while_current);
    apart("none", none);
    return 0;
}
