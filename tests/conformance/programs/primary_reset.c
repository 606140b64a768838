// SPDX-License-Identifier: Apache-2.0
/* A primary context that is reset: who retained it, what was made in it, and after a fault. */
#include "common.h"

KERNELS(basics);

static void state(void) {
    unsigned int flags = 99;
    int active = -1;
    CUresult r = cuDevicePrimaryCtxGetState(0, &flags, &active);

    printf("state: %d, flags %#x, active %d\n", r, flags, active);
}

static void release_all(void) {
    for (int i = 0; i < 4; i++) {
        SHOW(cuDevicePrimaryCtxRelease(0));
        state();
    }
}

static void never_retained(void) {
    CK(cuInit(0));
    SHOW(cuDevicePrimaryCtxReset(0));
    state();
    SHOW(cuDevicePrimaryCtxReset(99));
    release_all();
}

static void retained_twice(void) {
    CUcontext c, again, current;
    CUdeviceptr d;
    CUstream s;
    CUevent e;

    CK(cuInit(0));
    CK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD));
    CK(cuDevicePrimaryCtxRetain(&c, 0));
    CK(cuDevicePrimaryCtxRetain(&c, 0));
    CK(cuCtxSetCurrent(c));
    CK(cuMemAlloc(&d, 64));
    CK(cuStreamCreate(&s, 0));
    CK(cuEventCreate(&e, 0));
    state();
    SHOW(cuDevicePrimaryCtxReset(0));
    state();
    SHOW(cuCtxGetCurrent(&current));
    printf("still current: %d\n", current == c);
    SHOW(cuCtxSynchronize());
    SHOW(cuMemsetD32(d, 0, 1));
    SHOW(cuEventQuery(e));
    SHOW(cuMemAlloc(&d, 64));
    SHOW(cuDevicePrimaryCtxRetain(&again, 0));
    printf("the same: %d\n", again == c);
    state();
    SHOW(cuCtxSynchronize());
    SHOW(cuMemAlloc(&d, 64));
    SHOW(cuMemFree(d));
    SHOW(cuEventQuery(e));
    release_all();
}

static void fault(void) {
    CUdeviceptr bad = 0x10000;
    void *args[] = {&bad};

    CK(cuLaunchKernel(function(module(ptx_basics), "write_to"), 1, 1, 1, 1, 1, 1, 0, NULL, args,
                      NULL));
    SHOW(cuCtxSynchronize());
}

static void after_a_fault(void) {
    CUcontext c = start(), again, other;
    CUdeviceptr d;

    fault();
    SHOW(cuDevicePrimaryCtxReset(0));
    state();
    SHOW(cuCtxSynchronize());
    SHOW(cuMemAlloc(&d, 64));
    SHOW(cuDevicePrimaryCtxRetain(&again, 0));
    state();
    SHOW(cuCtxSetCurrent(c));
    SHOW(cuMemAlloc(&d, 64));
    SHOW(cuCtxCreate(&other, NULL, 0, 0));
    SHOW(cuDevicePrimaryCtxReset(0));
    SHOW(cuDevicePrimaryCtxRelease(0));
    SHOW(cuDevicePrimaryCtxRelease(0));
    state();
}

static void released_after_a_fault(void) {
    CUcontext c, again;

    start();
    fault();
    SHOW(cuDevicePrimaryCtxRetain(&again, 0));
    SHOW(cuDevicePrimaryCtxRelease(0));
    SHOW(cuDevicePrimaryCtxRelease(0));
    state();
    SHOW(cuDevicePrimaryCtxRetain(&again, 0));
    SHOW(cuCtxCreate(&c, NULL, 0, 0));
}

static void another_after_a_fault(void) {
    CUcontext c;

    start();
    CK(cuCtxCreate(&c, NULL, 0, 0));
    fault();
    SHOW(cuCtxDestroy(c));
    SHOW(cuCtxSynchronize());
    SHOW(cuCtxCreate(&c, NULL, 0, 0));
    SHOW(cuCtxSynchronize());
}

int main(void) {
    apart("never retained", never_retained);
    apart("retained twice", retained_twice);
    apart("after a fault", after_a_fault);
    apart("released after a fault", released_after_a_fault);
    apart("another context after a fault", another_after_a_fault);
    return 0;
}
