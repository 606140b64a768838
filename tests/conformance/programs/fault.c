// SPDX-License-Identifier: Apache-2.0
/* A kernel writes to a bad address: 700, from then on for every call of this program alone. */
#include "common.h"

KERNELS(basics);

int main(void) {
    CUdeviceptr good, bad = 0x10000;
    CUevent e;
    int value;
    size_t free_bytes, total;
    void *h;

    start();
    CUmodule m = module(ptx_basics);
    CUfunction write_to = function(m, "write_to");
    CK(cuMemAlloc(&good, 4));
    void *args[] = {&good}, *bad_args[] = {&bad};
    CK(cuLaunchKernel(write_to, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    CK(cuMemcpyDtoH(&value, good, 4));
    printf("before: %d\n", value);
    SHOW(cuLaunchKernel(write_to, 1, 1, 1, 1, 1, 1, 0, NULL, bad_args, NULL));
    SHOW(cuCtxSynchronize());
    SHOW(cuCtxSynchronize());
    SHOW(cuLaunchKernel(write_to, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    SHOW(cuMemcpyDtoH(&value, good, 4));
    SHOW(cuMemAlloc(&good, 16));
    SHOW(cuEventCreate(&e, 0));
    SHOW(cuMemAllocHost(&h, 16));
    SHOW(cuMemGetInfo(&free_bytes, &total));
    SHOW(cuStreamQuery(NULL));
    return 0;
}
