// SPDX-License-Identifier: Apache-2.0
/* Streams and events in time: NOT_READY while work runs, order, a host that waits. */
#include "common.h"

KERNELS(basics);

int main(void) {
    volatile int *flag;
    CUdeviceptr x;
    CUstream a, b;
    CUevent begin, done;
    int rounds = 10, value = 1;
    float ms = -1;

    start();
    CUmodule m = module(ptx_basics);
    CUfunction wait_for = function(m, "wait_for"), chain = function(m, "chain");
    CK(cuMemHostAlloc((void **)&flag, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    *flag = 0;
    CK(cuMemAlloc(&x, 4));
    CK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    CK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    CK(cuEventCreate(&begin, 0));
    CK(cuEventCreate(&done, 0));
    CUdeviceptr dflag;
    CK(cuMemHostGetDevicePointer(&dflag, (void *)flag, 0));
    printf("the same address %d\n", dflag == (CUdeviceptr)flag);
    void *wait_args[] = {&dflag}, *chain_args[] = {&x, &rounds};

    CK(cuMemsetD32Async(x, 1, 1, a));
    CK(cuEventRecord(begin, a));
    CK(cuLaunchKernel(wait_for, 1, 1, 1, 1, 1, 1, 0, a, wait_args, NULL));
    CK(cuEventRecord(done, a));
    SHOW(cuEventQuery(done));
    SHOW(cuStreamQuery(a));
    SHOW(cuStreamQuery(b));
    CK(cuStreamWaitEvent(b, done, 0));
    CK(cuLaunchKernel(chain, 1, 1, 1, 1, 1, 1, 0, b, chain_args, NULL));
    SHOW(cuStreamQuery(b));
    SHOW(cuEventElapsedTime(&ms, begin, done));
    *flag = 1;
    SHOW(cuEventSynchronize(done));
    SHOW(cuStreamSynchronize(b));
    SHOW(cuEventQuery(done));
    SHOW(cuEventElapsedTime(&ms, begin, done));
    printf("time passed %s\n", ms > 0 ? "yes" : "no");
    CK(cuMemcpyDtoH(&value, x, 4));
    printf("chain %d\n", value);

    /* The legacy stream waits for blocking streams, and they for it. */
    *flag = 0;
    CUstream c;
    CK(cuStreamCreate(&c, CU_STREAM_DEFAULT));
    CK(cuLaunchKernel(wait_for, 1, 1, 1, 1, 1, 1, 0, c, wait_args, NULL));
    CK(cuMemsetD32Async(x, 5, 1, NULL));
    SHOW(cuStreamQuery(NULL));
    SHOW(cuStreamQuery(a));
    *flag = 1;
    SHOW(cuStreamSynchronize(NULL));
    SHOW(cuStreamQuery(c));
    CK(cuMemcpyDtoH(&value, x, 4));
    printf("value %d\n", value);

    /* An event that is destroyed while it is waited for, and a stream with work in it. */
    *flag = 0;
    CK(cuLaunchKernel(wait_for, 1, 1, 1, 1, 1, 1, 0, a, wait_args, NULL));
    CK(cuEventRecord(done, a));
    SHOW(cuStreamDestroy(a));
    SHOW(cuEventDestroy(done));
    *flag = 1;
    SHOW(cuCtxSynchronize());
    return 0;
}
