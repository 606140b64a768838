// SPDX-License-Identifier: Apache-2.0
/* Managed memory: one address for program and GPU; advice about it. */
#include "common.h"

KERNELS(basics);

#define COUNT 5000
#define BYTES (COUNT * sizeof(int))

static int range_int(CUmem_range_attribute a, CUdeviceptr p, size_t bytes) {
    int value = 77;
    CUresult r = cuMemRangeGetAttribute(&value, sizeof(value), a, p, bytes);

    if (r != CUDA_SUCCESS)
        printf("attribute %d: error %d\n", a, r);
    return value;
}

static void both_sides(CUfunction f) {
    int n = COUNT, base = 9, wrong = 0, *host;
    CUdeviceptr p, q;
    void *args[] = {&p, &n, &base};

    puts("-- both sides");
    SHOW(cuMemAllocManaged(&p, BYTES, CU_MEM_ATTACH_GLOBAL));
    host = (int *)p;
    for (int i = 0; i < COUNT; i++)
        host[i] = -1;
    CK(cuLaunchKernel(f, (COUNT + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
    CK(cuCtxSynchronize());
    for (int i = 0; i < COUNT; i++)
        wrong += host[i] != base + i;
    printf("wrong %d\n", wrong);
    CK(cuMemAlloc(&q, BYTES));
    SHOW(cuMemcpyDtoD(q, p, BYTES));
    SHOW(cuMemsetD32(p, 5, COUNT));
    SHOW(cuCtxSynchronize());
    printf("filled %d %d\n", host[0], host[COUNT - 1]);
    SHOW(cuMemcpy(p, q, BYTES));
    SHOW(cuCtxSynchronize());
    printf("back %d %d\n", host[0], host[COUNT - 1]);
    SHOW(cuMemFreeHost(host));
    SHOW(cuMemFree(p + 4));
    SHOW(cuMemFree(p));
    SHOW(cuMemFree(p));
    CK(cuMemFree(q));
}

static void advice(void) {
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, host = {CU_MEM_LOCATION_TYPE_HOST, 0};
    CUmemLocation far = {CU_MEM_LOCATION_TYPE_DEVICE, 1000};
    int who[3] = {77, 77, 77};
    CUdeviceptr p;
    char h;

    puts("-- advice");
    CK(cuMemAllocManaged(&p, 1 << 20, CU_MEM_ATTACH_GLOBAL));
    printf("before: %d %d %d\n", range_int(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 1 << 20),
           range_int(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 1 << 20),
           range_int(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, 1 << 20));
    SHOW(cuMemAdvise(p, 1 << 20, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    printf("%d\n", range_int(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 1 << 20));
    SHOW(cuMemAdvise(p, 1 << 19, CU_MEM_ADVISE_UNSET_READ_MOSTLY, here));
    printf("%d %d %d\n", range_int(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 1 << 20),
           range_int(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 1 << 19),
           range_int(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + (1 << 19), 1 << 19));
    SHOW(cuMemAdvise(p, 1 << 20, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
    printf("%d\n", range_int(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 1 << 20));
    SHOW(cuMemAdvise(p, 1 << 20, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    printf("%d\n", range_int(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 1 << 20));
    SHOW(cuMemAdvise(p, 1 << 20, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, host));
    printf("%d\n", range_int(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 1 << 20));
    SHOW(cuMemAdvise(p, 1 << 20, CU_MEM_ADVISE_SET_ACCESSED_BY, here));
    SHOW(cuMemRangeGetAttribute(who, sizeof(who), CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 1 << 20));
    printf("%d %d %d\n", who[0], who[1], who[2]);
    SHOW(cuMemPrefetchAsync(p, 1 << 20, here, 0, NULL));
    SHOW(cuCtxSynchronize());
    printf("%d\n", range_int(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, 1 << 20));
    SHOW(cuMemPrefetchAsync(p, 1 << 20, host, 0, NULL));
    printf("%d\n", range_int(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, 1 << 20));
    puts("-- wrong advice");
    SHOW(cuMemAdvise(p, 1 << 20, CU_MEM_ADVISE_SET_ACCESSED_BY, far));
    SHOW(cuMemAdvise(p, 1 << 20, 77, here));
    SHOW(cuMemAdvise(p, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    SHOW(cuMemPrefetchAsync(p, 1 << 20, far, 0, NULL));
    SHOW(cuMemPrefetchAsync(p, 1 << 20, here, 1, NULL));
    SHOW(cuMemPrefetchAsync(p, 0, here, 0, NULL));
    SHOW(cuMemRangeGetAttribute(&h, 1, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 1 << 20));
    SHOW(cuMemRangeGetAttribute(who, 4, 77, p, 1 << 20));
    SHOW(cuMemRangeGetAttribute(NULL, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 1 << 20));
    SHOW(cuMemFree(p));
}

/* Memory goes with its context: what is allocated later was not advised, wherever it lies. */
static void in_another_context(void) {
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUcontext c;
    CUdeviceptr p;

    puts("-- in another context");
    CK(cuCtxCreate(&c, NULL, 0, 0));
    CK(cuMemAllocManaged(&p, 1 << 20, CU_MEM_ATTACH_GLOBAL));
    CK(cuMemAdvise(p, 1 << 20, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    CK(cuMemAdvise(p, 1 << 20, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
    CK(cuCtxDestroy(c));
    CK(cuMemAllocManaged(&p, 1 << 19, CU_MEM_ATTACH_GLOBAL));
    printf("%d %d\n", range_int(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 1 << 19),
           range_int(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 1 << 19));
    SHOW(cuMemFree(p));
}

static void attached(void) {
    CUdeviceptr p;
    CUstream s;

    puts("-- attached");
    CK(cuStreamCreate(&s, 0));
    SHOW(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_HOST));
    SHOW(cuStreamAttachMemAsync(s, p, 0, CU_MEM_ATTACH_SINGLE));
    SHOW(cuStreamAttachMemAsync(s, p, 4096, CU_MEM_ATTACH_GLOBAL));
    SHOW(cuStreamAttachMemAsync(s, p, 0, 0));
    SHOW(cuStreamAttachMemAsync(NULL, p, 0, CU_MEM_ATTACH_SINGLE));
    SHOW(cuStreamSynchronize(s));
    SHOW(cuMemFree(p));
    SHOW(cuMemAllocManaged(&p, 4096, 0));
    SHOW(cuMemAllocManaged(&p, 0, CU_MEM_ATTACH_GLOBAL));
    SHOW(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_SINGLE));
    SHOW(cuMemAllocManaged(NULL, 4096, CU_MEM_ATTACH_GLOBAL));
}

int main(void) {
    start();
    both_sides(function(module(ptx_basics), "fill_index"));
    advice();
    attached();
    in_another_context();
    return 0;
}
