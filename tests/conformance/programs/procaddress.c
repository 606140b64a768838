// SPDX-License-Identifier: Apache-2.0
/* cuGetProcAddress: which function a name means in a version. */
#include "common.h"

static void ask(const char *name, int version, uint64_t flags) {
    CUdriverProcAddressQueryResult status = -1;
    void *p = &status;
    CUresult r = cuGetProcAddress(name, &p, version, flags, &status);

    printf("%s %d %lu: %d status %d %s\n", name, version, (unsigned long)flags, r, status,
           r != CUDA_SUCCESS ? "-"
           : p               ? "found"
                             : "NULL");
}

int main(void) {
    void *a = NULL, *b = NULL;
    CUdriverProcAddressQueryResult status;

    CK(cuInit(0));
    ask("cuMemAlloc", 3020, 0);
    ask("cuMemAlloc", 13000, 0);
    ask("cuMemAlloc_v2", 13000, 0);
    ask("cuNoSuchThing", 13000, 0);
    ask("", 13000, 0);
    ask("cuMemAlloc", 99000, 0);
    ask("cuStreamGetId", 11000, 0);
    ask("cuStreamGetId", 12000, 0);
    ask("cuLaunchKernel", 4000, 0);
    ask("cuLaunchKernel", 3000, 0);
    ask("cuLaunchKernel", 13000, 2);
    ask("cuMemcpyHtoD", 13000, 2);
    SHOW(cuGetProcAddress("cuInit", &a, 12000, 77, &status));
    SHOW(cuGetProcAddress("cuInit", &a, 12000, 0, NULL));
    CK(cuGetProcAddress("cuCtxGetDevice", &a, 12000, 0, &status));
    CK(cuGetProcAddress("cuCtxGetDevice", &b, 13000, 0, &status));
    printf("cuCtxGetDevice differs in 13.0: %d\n", a != b);
    CK(cuGetProcAddress("cuLaunchKernel", &a, 12000, 0, &status));
    CK(cuGetProcAddress("cuLaunchKernel", &b, 12000, 2, &status));
    printf("cuLaunchKernel differs for per-thread streams: %d\n", a != b);
    printf("cuLaunchKernel is the exported one: %d\n", a == (void *)cuLaunchKernel);
    return 0;
}
