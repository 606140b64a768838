// SPDX-License-Identifier: Apache-2.0
/* Device and pinned memory, copies and fills. */
#include <sys/mman.h>

#include "check.h"

static void enforces_the_limit(void **state) {
    CUdeviceptr big, more;
    size_t avail, total;

    (void)state;
    OK(cuMemGetInfo(&avail, &total));
    assert_int_equal(total, MEMORY);
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&big, MEMORY + 1));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&big, SIZE_MAX));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&big, 0));
    OK(cuMemAlloc(&big, avail));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&more, 1));
    OK(cuMemFree(big));
    OK(cuMemAlloc(&more, 1));
    OK(cuMemFree(more));
    OK(cuMemFree(0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(more));
}

static void reuses_addresses_without_end(void **state) {
    CUdeviceptr p[3];

    (void)state;
    for (int round = 0; round < 1000; round++) {
        for (int i = 0; i < 3; i++)
            OK(cuMemAlloc(&p[i], MEMORY / 4));
        for (int i = 0; i < 3; i++)
            OK(cuMemFree(p[(i + round) % 3]));
    }
}

static void checks_every_range(void **state) {
    char host[256];
    CUdeviceptr p, base;
    size_t size;

    (void)state;
    OK(cuMemAlloc(&p, 100));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p, host, 101));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p + 50, host, 51));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, p + 100, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, (uintptr_t)host, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p, (void *)(uintptr_t)p, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p, NULL, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(p, 0, SIZE_MAX));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(p, 0, SIZE_MAX / 2));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD16(p + 1, 0, 1));
    OK(cuMemcpyHtoD(p, host, 0));
    OK(cuMemGetAddressRange(&base, &size, p + 99));
    assert_int_equal(base, p);
    assert_int_equal(size, 100);
    OK(cuMemGetAddressRange(NULL, &size, p));
    FAILS(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, p + 100));
    OK(cuMemFree(p));
}

static void copies_and_fills(void **state) {
    uint32_t out[64], in[64];
    CUdeviceptr a, b;

    (void)state;
    for (uint32_t i = 0; i < 64; i++)
        in[i] = i * 0x01010101;
    OK(cuMemAlloc(&a, sizeof(in)));
    OK(cuMemAlloc(&b, sizeof(in)));
    OK(cuMemcpyHtoD(a, in, sizeof(in)));
    OK(cuMemcpyDtoD(b, a, sizeof(in)));
    OK(cuMemsetD8(b, 0xab, 4));
    OK(cuMemsetD16(b + 4, 0x1234, 2));
    OK(cuMemsetD32(b + 8, 0xdeadbeef, 1));
    OK(cuMemcpy((uintptr_t)out, b, sizeof(out)));
    assert_int_equal(out[0], 0xabababab);
    assert_int_equal(out[1], 0x12341234);
    assert_int_equal(out[2], 0xdeadbeef);
    assert_memory_equal(out + 3, in + 3, sizeof(in) - 12);
    OK(cuMemFree(a));
    OK(cuMemFree(b));
}

/* The source is taken before the call returns, though the copy waits in the stream. */
static void takes_a_pageable_source_at_once(void **state) {
    int value = 1, result = 0, *gate = new_gate();
    CUstream stream;
    CUdeviceptr p;

    (void)state;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&p, 4));
    occupy(stream, gate);
    OK(cuMemcpyHtoDAsync(p, &value, 4, stream));
    value = 2;
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    open_gate(gate);
    OK(cuMemcpyDtoHAsync(&result, p, 4, stream)); /* pageable: done on return */
    assert_int_equal(result, 1);
}

/* Between pinned memory and the device, the host goes on at once. */
static void copies_pinned_memory_asynchronously(void **state) {
    int *gate = new_gate(), *from, *to;
    CUstream stream;
    CUdeviceptr p;
    void *pinned;

    (void)state;
    OK(cuMemAllocHost(&pinned, 8));
    from = pinned, to = from + 1;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&p, 4));
    from[0] = 1, to[0] = 0;
    occupy(stream, gate);
    OK(cuMemcpyHtoDAsync(p, from, 4, stream));
    OK(cuMemcpyDtoHAsync(to, p, 4, stream));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    assert_int_equal(*to, 0);
    from[0] = 7; /* seen by the copy, which has not begun */
    open_gate(gate);
    OK(cuStreamSynchronize(stream));
    assert_int_equal(*to, 7);
}

static void knows_pinned_memory(void **state) {
    CUdeviceptr device;
    unsigned flags;
    void *pinned;

    (void)state;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc(&pinned, 16, 0x80));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc(&pinned, 0, 0));
    OK(cuMemHostAlloc(&pinned, 16, CU_MEMHOSTALLOC_PORTABLE));
    OK(cuMemHostGetDevicePointer(&device, pinned, 0));
    assert_int_equal(device, (uintptr_t)pinned);
    OK(cuMemHostGetFlags(&flags, pinned));
    assert_int_equal(flags, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    OK(launch("store", 1, NULL, (void *[]){&pinned, &(int){42}}));
    OK(cuCtxSynchronize());
    assert_int_equal(*(int *)pinned, 42);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree((uintptr_t)pinned));
    OK(cuMemFreeHost(pinned));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(pinned));
}

static void registers_host_memory(void **state) {
    char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int *word = (int *)memory;

    (void)state;
    OK(cuMemHostRegister(memory, 4096, 0));
    FAILS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(memory, 4096, 0));
    FAILS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(memory + 4000, 4096, 0));
    OK(launch("store", 1, NULL, (void *[]){&word, &(int){43}}));
    OK(cuCtxSynchronize());
    assert_int_equal(*word, 43);
    FAILS(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(memory + 8));
    OK(cuMemHostUnregister(memory));
    FAILS(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(memory));
    munmap(memory, 8192);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(memory, 4096, 0));
}

static void tells_pointers(void **state) {
    CUpointer_attribute asked[3] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                    CU_POINTER_ATTRIBUTE_HOST_POINTER};
    unsigned type = 9;
    CUcontext owner;
    CUdeviceptr p;
    void *host = &p;
    int ordinal = 9;

    (void)state;
    OK(cuMemAlloc(&p, 16));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 3));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    assert_ptr_equal(owner, context);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)&type));
    OK(cuPointerGetAttributes(3, asked, (void *[]){&type, &ordinal, &host}, p));
    assert_int_equal(ordinal, 0);
    assert_null(host);
    OK(cuPointerGetAttributes(3, asked, (void *[]){&type, &ordinal, &host}, (uintptr_t)&type));
    assert_int_equal(type, 0);
    assert_int_equal(ordinal, CU_DEVICE_INVALID);
    OK(cuMemFree(p));
}

/* Each context has memory of its own, also on one device; copies reach all of it. */
static void keeps_contexts_apart(void **state) {
    int value = 11, result = 0;
    CUdeviceptr mine, theirs;
    CUcontext other;

    (void)state;
    OK(cuMemAlloc(&mine, 4));
    OK(cuCtxCreate(&other, NULL, 0, 1));
    OK(cuMemAlloc(&theirs, 4));
    OK(cuMemcpyHtoD(theirs, &value, 4));
    OK(cuMemcpyDtoD(mine, theirs, 4));
    OK(cuCtxSynchronize());
    OK(cuCtxPopCurrent(NULL));
    OK(cuMemcpyDtoH(&result, mine, 4));
    assert_int_equal(result, 11);
    OK(launch("store", 1, NULL, (void *[]){&theirs, &value}));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    OK(cuCtxDestroy(other));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(enforces_the_limit),
        TEST(reuses_addresses_without_end),
        TEST(checks_every_range),
        TEST(copies_and_fills),
        TEST(takes_a_pageable_source_at_once),
        TEST(copies_pinned_memory_asynchronously),
        TEST(knows_pinned_memory),
        TEST(registers_host_memory),
        TEST(tells_pointers),
        TEST(keeps_contexts_apart),
    };

    return cmocka_run_group_tests_name("memory", tests, start, NULL);
}
