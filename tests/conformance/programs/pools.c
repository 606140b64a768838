// SPDX-License-Identifier: Apache-2.0
/* Memory in stream order, and the pools that it comes from. */
#include "common.h"

KERNELS(basics);

#define BYTES 4096

static void show_bytes(const char *what, CUdeviceptr p) {
    unsigned char got[4] = {0};

    CK(cuMemcpyDtoH(got, p, sizeof(got)));
    printf("%s: %u %u %u %u\n", what, got[0], got[1], got[2], got[3]);
}

static void in_stream_order(CUstream s) {
    CUdeviceptr p, q;
    size_t size = 0;

    puts("-- in stream order");
    SHOW(cuMemAllocAsync(&p, BYTES, s));
    SHOW(cuMemsetD8Async(p, 7, BYTES, s));
    SHOW(cuStreamSynchronize(s));
    show_bytes("filled", p);
    SHOW(cuMemAllocAsync(&q, BYTES, s));
    printf("apart: %d\n", q >= p + BYTES || p >= q + BYTES);
    SHOW(cuMemcpyDtoDAsync(q, p, BYTES, s));
    SHOW(cuStreamSynchronize(s));
    show_bytes("copied", q);
    SHOW(cuMemGetAddressRange(NULL, &size, p + 5));
    printf("range %zu\n", size);
    SHOW(cuMemFreeAsync(p, s));
    SHOW(cuMemFreeAsync(q, s));
    SHOW(cuStreamSynchronize(s));
    SHOW(cuMemFreeAsync(q, s));
}

static void on_default_stream(void) {
    CUdeviceptr p;

    puts("-- on the default stream");
    SHOW(cuMemAllocAsync(&p, 100, NULL));
    SHOW(cuMemsetD8(p, 1, 100));
    show_bytes("filled", p);
    SHOW(cuMemFreeAsync(p, NULL));
    SHOW(cuMemAllocAsync(&p, 100, CU_STREAM_PER_THREAD));
    SHOW(cuMemFreeAsync(p, CU_STREAM_PER_THREAD));
    SHOW(cuCtxSynchronize());
}

/* Either way of freeing takes what either way of allocating gave. */
static void mixed(CUstream s) {
    CUdeviceptr p;

    puts("-- mixed with cuMemAlloc and cuMemFree");
    CK(cuMemAllocAsync(&p, BYTES, s));
    SHOW(cuMemFree(p));
    CK(cuMemAlloc(&p, BYTES));
    SHOW(cuMemFreeAsync(p, s));
    SHOW(cuStreamSynchronize(s));
    SHOW(cuMemFree(p));
}

static void in_a_kernel(CUstream s) {
    CUmodule m = module(ptx_basics);
    CUfunction f = function(m, "count");
    CUdeviceptr p;

    puts("-- while a kernel runs");
    CK(cuMemAllocAsync(&p, BYTES, s));
    CK(cuMemsetD8Async(p, 0, BYTES, s));
    SHOW(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, NULL, NULL));
    SHOW(cuMemFreeAsync(p, s));
    SHOW(cuStreamSynchronize(s));
    CK(cuModuleUnload(m));
}

/* Freed and allocated over and over: the memory does not run out. */
static void many(CUstream s) {
    CUdeviceptr p[8];
    uint32_t state = 1;

    puts("-- many");
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 8; i++) {
            size_t bytes = 256 + next_random(&state) % (1 << 20);

            CK(cuMemAllocAsync(&p[i], bytes, s));
            CK(cuMemsetD8Async(p[i], (unsigned char)i, bytes, s));
        }
        for (int i = 0; i < 8; i++)
            CK(cuMemFreeAsync(p[i], s));
    }
    SHOW(cuStreamSynchronize(s));
}

static void wrong(CUstream s) {
    CUdeviceptr p;
    void *h;

    puts("-- wrong arguments");
    SHOW(cuMemAllocAsync(NULL, BYTES, s));
    SHOW(cuMemAllocAsync(&p, 0, s));
    SHOW(cuMemAllocAsync(&p, (size_t)1 << 60, s));
    SHOW(cuMemAllocAsync(&p, BYTES, (CUstream)0x1230));
    SHOW(cuMemFreeAsync(0, s));
    SHOW(cuMemFreeAsync(0x1234, s));
    CK(cuMemAllocAsync(&p, BYTES, s));
    SHOW(cuMemFreeAsync(p + 256, s));
    SHOW(cuMemFreeAsync(p, (CUstream)0x1230));
    SHOW(cuMemFreeAsync(p, s));
    CK(cuMemAllocHost(&h, BYTES));
    SHOW(cuMemFreeAsync((CUdeviceptr)h, s));
    CK(cuMemFreeHost(h));
}

static void attributes(CUmemoryPool pool) {
    uint64_t amount = 99;
    uint32_t on = 99;

    SHOW(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, &on));
    printf("%u\n", on);
    SHOW(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &on));
    printf("%u\n", on);
    SHOW(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &on));
    printf("%u\n", on);
    on = 0;
    SHOW(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &on));
    on = 99;
    SHOW(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &on));
    printf("%u\n", on);
    on = 1;
    SHOW(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &on));
    SHOW(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &amount));
    printf("%lu\n", amount);
    amount = 1 << 20;
    SHOW(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &amount));
    amount = 99;
    SHOW(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &amount));
    printf("%lu\n", amount);
    amount = 0;
    SHOW(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &amount));
    SHOW(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &amount));
    amount = 5;
    SHOW(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &amount));
    SHOW(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &amount));
    SHOW(cuMemPoolGetAttribute(pool, 77, &amount));
    SHOW(cuMemPoolGetAttribute(pool, 0, &amount));
    SHOW(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, NULL));
    SHOW(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, NULL));
}

static void default_pool(CUstream s) {
    CUmemoryPool pool, again, current;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemAccess_flags flags = 99;
    uint64_t used = 99, before = 0;
    CUdeviceptr p;

    puts("-- the default pool");
    SHOW(cuDeviceGetDefaultMemPool(&pool, 0));
    SHOW(cuDeviceGetDefaultMemPool(&again, 0));
    SHOW(cuDeviceGetMemPool(&current, 0));
    printf("the same: %d %d\n", pool == again, pool == current);
    SHOW(cuDeviceGetDefaultMemPool(NULL, 0));
    SHOW(cuDeviceGetDefaultMemPool(&pool, 1000));
    SHOW(cuDeviceGetMemPool(&pool, -1));
    SHOW(cuDeviceSetMemPool(0, NULL));
    SHOW(cuDeviceSetMemPool(1000, pool));
    SHOW(cuMemPoolDestroy(pool));
    SHOW(cuMemPoolGetAccess(&flags, pool, &here));
    printf("access %d\n", flags);
    CK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &before));
    CK(cuMemAllocAsync(&p, 1 << 20, s));
    CK(cuStreamSynchronize(s));
    SHOW(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    printf("used %lu\n", used - before);
    CK(cuMemFreeAsync(p, s));
    CK(cuStreamSynchronize(s));
    SHOW(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    printf("used %lu\n", used - before);
    SHOW(cuMemPoolTrimTo(pool, 0));
    SHOW(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &used));
    printf("reserved %lu\n", used);
    attributes(pool);
}

static void by_location(void) {
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, nowhere = {0, 0};
    CUmemLocation far = {CU_MEM_LOCATION_TYPE_DEVICE, 1000};
    CUmemoryPool pool = NULL, other = NULL;

    puts("-- pools by location");
    SHOW(cuMemGetDefaultMemPool(&pool, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    CK(cuDeviceGetDefaultMemPool(&other, 0));
    printf("the same: %d\n", pool == other);
    SHOW(cuMemGetMemPool(&pool, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    printf("the same: %d\n", pool == other);
    SHOW(cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
    SHOW(cuMemGetDefaultMemPool(NULL, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    SHOW(cuMemGetDefaultMemPool(&pool, NULL, CU_MEM_ALLOCATION_TYPE_PINNED));
    SHOW(cuMemGetDefaultMemPool(&pool, &nowhere, CU_MEM_ALLOCATION_TYPE_PINNED));
    SHOW(cuMemGetDefaultMemPool(&pool, &far, CU_MEM_ALLOCATION_TYPE_PINNED));
    SHOW(cuMemGetDefaultMemPool(&pool, &here, CU_MEM_ALLOCATION_TYPE_INVALID));
}

static CUmemPoolProps properties(void) {
    CUmemPoolProps p = {0};

    p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return p;
}

static void own_pool(CUstream s) {
    CUmemPoolProps props = properties(), bad;
    CUmemoryPool pool, before;
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr p;

    puts("-- a pool of its own");
    SHOW(cuMemPoolCreate(&pool, &props));
    SHOW(cuMemAllocFromPoolAsync(&p, BYTES, pool, s));
    SHOW(cuMemsetD8Async(p, 9, BYTES, s));
    SHOW(cuStreamSynchronize(s));
    show_bytes("filled", p);
    SHOW(cuMemFreeAsync(p, s));
    SHOW(cuMemPoolSetAccess(pool, &desc, 1));
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    SHOW(cuMemPoolSetAccess(pool, &desc, 1));
    desc.location.id = 1000;
    SHOW(cuMemPoolSetAccess(pool, &desc, 1));
    SHOW(cuMemPoolSetAccess(pool, NULL, 1));
    SHOW(cuMemPoolSetAccess(pool, &desc, 0));
    CK(cuDeviceGetMemPool(&before, 0));
    SHOW(cuDeviceSetMemPool(0, pool));
    CUmemoryPool now;
    CK(cuDeviceGetMemPool(&now, 0));
    printf("current: %d\n", now == pool);
    CK(cuMemAllocAsync(&p, BYTES, s));
    CUmemoryPool of = NULL;
    SHOW(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    printf("its memory: %d\n", of == pool);
    SHOW(cuMemFreeAsync(p, s));
    SHOW(cuMemPoolDestroy(pool));
    CK(cuDeviceGetMemPool(&now, 0));
    printf("the default one again: %d\n", now == before);
    SHOW(cuStreamSynchronize(s));
    SHOW(cuMemPoolDestroy(pool));
    SHOW(cuMemPoolTrimTo(pool, 0));
    SHOW(cuMemAllocFromPoolAsync(&p, BYTES, pool, s));
    SHOW(cuMemAllocFromPoolAsync(&p, BYTES, NULL, s));
    SHOW(cuMemPoolCreate(NULL, &props));
    SHOW(cuMemPoolCreate(&pool, NULL));
    bad = properties();
    bad.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
    SHOW(cuMemPoolCreate(&pool, &bad));
    bad = properties();
    bad.location.id = 1000;
    SHOW(cuMemPoolCreate(&pool, &bad));
    bad = properties();
    bad.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    SHOW(cuMemPoolCreate(&pool, &bad));
    props.maxSize = 64 << 20;
    SHOW(cuMemPoolCreate(&pool, &props));
    SHOW(cuMemAllocFromPoolAsync(&p, (size_t)1 << 30, pool, s));
    SHOW(cuMemPoolDestroy(pool));
}

int main(void) {
    CUstream s;

    CUdeviceptr p;
    SHOW(cuMemAllocAsync(&p, 16, NULL));
    start();
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    in_stream_order(s);
    on_default_stream();
    mixed(s);
    in_a_kernel(s);
    many(s);
    wrong(s);
    default_pool(s);
    by_location();
    own_pool(s);
    return 0;
}
