// SPDX-License-Identifier: Apache-2.0
/* Events: flags, contexts, records of whole contexts, times, wrong arguments. */
#include <dlfcn.h>

#include "common.h"

KERNELS(basics);

#define WILD ((CUevent)0x123456780)

static void flags(void) {
    static const unsigned int tried[] = {0, 1, 2, 3, 4, 6, 7, 8, 16, 0x80000000u};
    CUevent e;

    for (unsigned int i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
        CUresult r = cuEventCreate(&e, tried[i]);

        printf("flags %#x: %d\n", tried[i], r);
        if (r == CUDA_SUCCESS)
            CK(cuEventDestroy(e));
    }
    SHOW(cuEventCreate(NULL, 0));
}

static void times(CUstream s) {
    CUevent a, b, untimed, never;
    float ms = -1;

    printf("-- times\n");
    CK(cuEventCreate(&a, 0));
    CK(cuEventCreate(&b, CU_EVENT_BLOCKING_SYNC));
    CK(cuEventCreate(&never, 0));
    CK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    SHOW(cuEventQuery(a));
    SHOW(cuEventSynchronize(a));
    SHOW(cuEventElapsedTime(&ms, a, b));
    CK(cuEventRecord(a, s));
    CK(cuEventRecord(b, s));
    CK(cuEventRecord(untimed, s));
    SHOW(cuEventSynchronize(b));
    SHOW(cuEventElapsedTime(&ms, a, b));
    printf("not negative: %d\n", ms >= 0);
    SHOW(cuEventElapsedTime(&ms, b, a));
    printf("not positive: %d\n", ms <= 0);
    SHOW(cuEventElapsedTime(&ms, a, a));
    printf("%.1f\n", (double)ms);
    SHOW(cuEventElapsedTime(&ms, a, untimed));
    SHOW(cuEventElapsedTime(&ms, a, never));
    SHOW(cuEventElapsedTime(NULL, a, b));
    SHOW(cuEventElapsedTime(&ms, WILD, b));
    SHOW(cuEventElapsedTime(&ms, a, WILD));
    CK(cuEventDestroy(a));
    CK(cuEventDestroy(b));
    CK(cuEventDestroy(untimed));
    CK(cuEventDestroy(never));
}

static volatile int *flag;

static void running(CUfunction wait_for, CUstream s, CUstream other, CUcontext context) {
    CUevent e, whole, again;
    float ms;
    void *args[] = {&flag};

    printf("-- while a kernel runs\n");
    *flag = 0;
    CK(cuEventCreate(&e, 0));
    CK(cuEventCreate(&whole, 0));
    CK(cuEventCreate(&again, 0));
    CK(cuEventRecord(again, s));
    CK(cuEventSynchronize(again));
    CK(cuLaunchKernel(wait_for, 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
    CK(cuEventRecord(e, s));
    SHOW(cuEventQuery(e));
    SHOW(cuEventQuery(again));
    SHOW(cuEventElapsedTime(&ms, again, e));
    CK(cuEventRecord(again, s));
    SHOW(cuEventQuery(again));
    SHOW(cuStreamWaitEvent(other, e, 0));
    SHOW(cuStreamQuery(other));
    SHOW(cuStreamQuery(s));
    SHOW(cuEventDestroy(again));
    *flag = 1;
    SHOW(cuStreamSynchronize(other));
    SHOW(cuEventQuery(e));
    SHOW(cuStreamWaitEvent(other, WILD, 0));
    SHOW(cuStreamWaitEvent(other, e, 2));
    SHOW(cuStreamWaitEvent((CUstream)0x123456780, e, 0));
    SHOW(cuEventRecordWithFlags(e, s, 2));
    SHOW(cuEventRecord(WILD, s));
    SHOW(cuEventRecord(e, (CUstream)0x123456780));
    (void)context;
    CK(cuEventDestroy(e));
    CK(cuEventDestroy(whole));
}

static void contexts(CUcontext first, CUstream s) {
    CUcontext second;
    CUevent mine, others;
    CUstream s2;

    printf("-- of another context\n");
    CK(cuEventCreate(&mine, 0));
    CK(cuCtxCreate(&second, NULL, 0, 0));
    CK(cuEventCreate(&others, 0));
    CK(cuStreamCreate(&s2, 0));
    SHOW(cuEventRecord(others, s2));
    SHOW(cuEventRecord(mine, s2));
    SHOW(cuEventRecord(others, NULL));
    SHOW(cuEventRecord(mine, NULL));
    SHOW(cuEventQuery(mine));
    SHOW(cuEventSynchronize(mine));
    SHOW(cuStreamWaitEvent(s, others, 0));
    CK(cuCtxSynchronize());
    CK(cuCtxSetCurrent(first));
    SHOW(cuEventQuery(others));
    SHOW(cuEventRecord(mine, s));
    SHOW(cuStreamWaitEvent(s2, mine, 0));
    SHOW(cuStreamSynchronize(s2));
    CK(cuCtxDestroy(second));
    SHOW(cuEventQuery(others));
    SHOW(cuEventDestroy(others));
    SHOW(cuEventDestroy(mine));
    SHOW(cuEventDestroy(NULL));
    SHOW(cuEventQuery(NULL));
}

static void old_versions(void) {
    CUresult (*destroy)(CUevent) = (CUresult(*)(CUevent))dlsym(RTLD_DEFAULT, "cuEventDestroy");
    CUevent e;

    printf("-- old versions\n");
    CK(cuEventCreate(&e, 0));
    SHOW(destroy(e));
    SHOW(destroy(e));
}

int main(void) {
    CUstream s, other;
    CUcontext context = start();

    CUfunction wait_for = function(module(ptx_basics), "wait_for");
    CK(cuMemHostAlloc((void **)&flag, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    flags();
    times(s);
    running(wait_for, s, other, context);
    contexts(context, s);
    old_versions();
    return 0;
}
