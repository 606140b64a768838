// SPDX-License-Identifier: Apache-2.0
/* Green contexts: shares of the multiprocessors, their streams, what is theirs. */
#include "common.h"

KERNELS(basics);

static CUfunction write_to;

static void show_resource(const char *what, const CUdevResource *r) {
    printf("%s: type %d, SMs %u\n", what, r->type, r->sm.smCount);
}

static void resources(CUdevResource *device) {
    CUdevResource r, groups[8], remaining;
    unsigned int n = 0;

    printf("-- resources\n");
    SHOW(cuDeviceGetDevResource(0, device, CU_DEV_RESOURCE_TYPE_SM));
    printf("all SMs: %d\n", device->sm.smCount > 0);
    SHOW(cuDeviceGetDevResource(0, NULL, CU_DEV_RESOURCE_TYPE_SM));
    SHOW(cuDeviceGetDevResource(0, &r, CU_DEV_RESOURCE_TYPE_INVALID));
    SHOW(cuDeviceGetDevResource(0, &r, (CUdevResourceType)77));
    SHOW(cuDeviceGetDevResource(99, &r, CU_DEV_RESOURCE_TYPE_SM));
    SHOW(cuDevSmResourceSplitByCount(NULL, &n, device, NULL, 0, 16));
    printf("groups of 16: %u\n", n);
    n = 3;
    memset(&remaining, 0, sizeof(remaining));
    SHOW(cuDevSmResourceSplitByCount(groups, &n, device, &remaining, 0, 16));
    printf("%u groups\n", n);
    for (unsigned int i = 0; i < n && i < 8; i++)
        show_resource("group", &groups[i]);
    printf("the rest is the rest: %d\n",
           remaining.sm.smCount == device->sm.smCount - groups[0].sm.smCount -
                                       groups[1].sm.smCount - groups[2].sm.smCount);
    n = 1;
    SHOW(cuDevSmResourceSplitByCount(groups, &n, device, NULL, 0, 9));
    show_resource("at least 9", &groups[0]);
    n = 1;
    SHOW(cuDevSmResourceSplitByCount(groups, &n, device, NULL, 0, 100000));
    SHOW(cuDevSmResourceSplitByCount(groups, NULL, device, NULL, 0, 8));
    SHOW(cuDevSmResourceSplitByCount(groups, &n, NULL, NULL, 0, 8));
    n = 1;
    SHOW(cuDevSmResourceSplitByCount(groups, &n, device, NULL, 0x80, 8));
}

static void use(CUgreenCtx green, CUcontext primary) {
    CUcontext c, again, current;
    CUdevResource r;
    CUgreenCtx found = NULL;
    unsigned long long id = 0;
    CUdeviceptr d;
    CUstream s;
    CUevent e;
    int value = 0;

    printf("-- use\n");
    SHOW(cuCtxFromGreenCtx(&c, green));
    SHOW(cuCtxFromGreenCtx(&again, green));
    printf("the same each time: %d, the primary one: %d\n", c == again, c == primary);
    SHOW(cuCtxSetCurrent(c));
    SHOW(cuCtxGetCurrent(&current));
    printf("current: %d\n", current == c);
    SHOW(cuGreenCtxGetDevResource(green, &r, CU_DEV_RESOURCE_TYPE_SM));
    show_resource("green", &r);
    SHOW(cuCtxGetDevResource(c, &r, CU_DEV_RESOURCE_TYPE_SM));
    show_resource("its context", &r);
    SHOW(cuGreenCtxGetId(green, &id));
    SHOW(cuGreenCtxStreamCreate(&s, green, CU_STREAM_NON_BLOCKING, 0));
    SHOW(cuStreamGetGreenCtx(s, &found));
    printf("found: %d\n", found == green);
    current = NULL;
    SHOW(cuStreamGetCtx_v2(s, &current, &found));
    printf("context %d, green %d\n", current != NULL, found == green);
    SHOW(cuStreamGetCtx(s, &current));
    printf("context %d\n", current == c);
    CK(cuMemAlloc(&d, 4));
    CUfunction f = function(module(ptx_basics), "write_to");
    void *args[] = {&d};
    SHOW(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
    SHOW(cuStreamSynchronize(s));
    SHOW(cuMemcpyDtoH(&value, d, 4));
    printf("written: %d\n", value != 0);
    CK(cuEventCreate(&e, 0));
    SHOW(cuGreenCtxRecordEvent(green, e));
    SHOW(cuGreenCtxWaitEvent(green, e));
    SHOW(cuEventSynchronize(e));
    SHOW(cuEventRecord(e, s));
    SHOW(cuCtxRecordEvent(c, e));
    SHOW(cuCtxSynchronize());
    SHOW(cuCtxDestroy(c));
    SHOW(cuGreenCtxStreamCreate(&s, green, 0, 0));
    SHOW(cuGreenCtxStreamCreate(NULL, green, CU_STREAM_NON_BLOCKING, 0));
    CK(cuCtxSetCurrent(primary));
}

int main(void) {
    CUdevResource device, groups[2];
    CUdevResourceDesc desc;
    unsigned int n = 2;
    CUgreenCtx green, second;
    CUcontext primary = start();

    (void)write_to;
    resources(&device);
    CK(cuDevSmResourceSplitByCount(groups, &n, &device, NULL, 0, 16));
    printf("-- making\n");
    SHOW(cuDevResourceGenerateDesc(&desc, &groups[0], 1));
    SHOW(cuDevResourceGenerateDesc(NULL, &groups[0], 1));
    SHOW(cuDevResourceGenerateDesc(&desc, NULL, 1));
    SHOW(cuDevResourceGenerateDesc(&desc, groups, 0));
    CK(cuDevResourceGenerateDesc(&desc, &groups[0], 1));
    SHOW(cuGreenCtxCreate(&green, desc, 0, 0));
    SHOW(cuGreenCtxCreate(&green, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    SHOW(cuGreenCtxCreate(NULL, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    SHOW(cuGreenCtxCreate(&second, desc, 99, CU_GREEN_CTX_DEFAULT_STREAM));
    CK(cuDevResourceGenerateDesc(&desc, &groups[1], 1));
    SHOW(cuGreenCtxCreate(&second, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    use(green, primary);
    use(second, primary);
    SHOW(cuGreenCtxDestroy(second));
    SHOW(cuGreenCtxDestroy(green));
    SHOW(cuGreenCtxDestroy(NULL));
    SHOW(cuCtxSynchronize());
    return 0;
}
