// SPDX-License-Identifier: Apache-2.0
/* Contexts: the stack of each thread, primary and created ones, what ends with them. */
#include <pthread.h>

#include "common.h"

static CUcontext primary, created;

static const char *which(CUcontext c) {
    return !c ? "none" : c == primary ? "primary" : c == created ? "created" : "another";
}

static void current(const char *when) {
    CUcontext c = NULL;

    CK(cuCtxGetCurrent(&c));
    printf("%s: %s\n", when, which(c));
}

static void *other_thread(void *unused) {
    CUdevice d;

    current("in a new thread");
    SHOW(cuCtxGetDevice(&d));
    SHOW(cuCtxSetCurrent(primary));
    SHOW(cuCtxGetDevice(&d));
    printf("device %d\n", d);
    return unused;
}

int main(void) {
    CUcontext c;
    pthread_t t;
    unsigned int flags, version;
    unsigned long long a, b;
    int active;
    size_t limit;

    CK(cuInit(0));
    SHOW(cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("active %d\n", active);
    SHOW(cuDevicePrimaryCtxRetain(&primary, 0));
    SHOW(cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("active %d\n", active);
    SHOW(cuDevicePrimaryCtxRetain(&c, 0));
    printf("the same %d\n", c == primary);
    current("after retain");
    SHOW(cuCtxSetCurrent(primary));
    current("after set");
    SHOW(cuCtxCreate(&created, NULL, 0, 0));
    current("after create");
    SHOW(cuCtxPopCurrent(&c));
    printf("popped %s\n", which(c));
    current("after pop");
    SHOW(cuCtxPushCurrent(created));
    SHOW(cuCtxPushCurrent(primary));
    current("after two pushes");
    SHOW(cuCtxGetId(primary, &a));
    SHOW(cuCtxGetId(created, &b));
    printf("different ids %d\n", a != b);
    SHOW(cuCtxGetApiVersion(primary, &version));
    SHOW(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    SHOW(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
    SHOW(cuCtxGetLimit(&limit, 1000));
    SHOW(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    pthread_create(&t, NULL, other_thread, NULL);
    pthread_join(t, NULL);
    SHOW(cuCtxPopCurrent(&c));
    SHOW(cuCtxDestroy(created));
    current("after destroy");
    SHOW(cuCtxSetCurrent(primary));
    SHOW(cuCtxSynchronize());
    SHOW(cuDevicePrimaryCtxRelease(0));
    SHOW(cuDevicePrimaryCtxRelease(0));
    SHOW(cuDevicePrimaryCtxRelease(0));
    SHOW(cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("active %d\n", active);
    SHOW(cuDevicePrimaryCtxRetain(&primary, 0));
    SHOW(cuCtxSetCurrent(primary));
    CUdeviceptr p;
    SHOW(cuMemAlloc(&p, 100));
    SHOW(cuDevicePrimaryCtxReset(0));
    SHOW(cuDevicePrimaryCtxRetain(&primary, 0));
    SHOW(cuCtxSetCurrent(primary));
    SHOW(cuMemAlloc(&p, 100));
    SHOW(cuMemFree(p));
    return 0;
}
