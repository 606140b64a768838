// SPDX-License-Identifier: Apache-2.0
/* Memory that stays the program's: a capture refuses to free it, or a graph allocates it again. */
#include "common.h"

static CUstream s;

static void show(const char *what, CUdeviceptr p) {
    unsigned int value = 0;

    CK(cuMemsetD32Async(p, 7, 16, s));
    CK(cuMemcpyDtoHAsync(&value, p, 4, s));
    CK(cuStreamSynchronize(s));
    printf("%s %u\n", what, value);
}

/* What a graph did not allocate cannot be freed by one. */
static void refused(void) {
    CUdeviceptr p;
    CUgraph graph;
    size_t size = 0;

    CK(cuMemAlloc(&p, 4096));
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    printf("refused %d\n", cuMemFreeAsync(p, s) != CUDA_SUCCESS);
    if (cuStreamEndCapture(s, &graph) == CUDA_SUCCESS)
        CK(cuGraphDestroy(graph));
    SHOW(cuMemGetAddressRange(NULL, &size, p));
    printf("size %zu\n", size);
    show("value", p);
    SHOW(cuMemFree(p));
}

int main(void) {
    start();
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    printf("-- a free that a capture refuses\n");
    refused();
    return 0;
}
