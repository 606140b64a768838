// SPDX-License-Identifier: Apache-2.0
/*
 * Device addresses, where the GPU reaches the worker's own memory. The driver is one that knows two
 * allocations which touch, and the guest has one region.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "addresses.h"
#include "worker.h"

#define FIRST 0x10000ull
#define SECOND 0x11000ull
#define END 0x13000ull
#define REGION 0x200000000000ull

static struct worker worker = {.gpu_count = 1};
static int pageable = 1;

CUresult worker_device(const struct worker *w, int guest_device, CUdevice *device) {
    (void)w;
    *device = guest_device;
    return CUDA_SUCCESS;
}

bool regions_hold(struct worker *w, uint64_t address, uint64_t bytes) {
    (void)w;
    return address >= REGION && bytes <= 4096 && address - REGION <= 4096 - bytes;
}

static CUresult attribute(int *value, CUdevice_attribute which, CUdevice device) {
    (void)device;
    *value = which == CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS ? pageable : 0;
    return CUDA_SUCCESS;
}

static CUresult pointer(void *data, CUpointer_attribute which, CUdeviceptr address) {
    uint64_t start = address < SECOND ? FIRST : SECOND;

    if (address < FIRST || address >= END)
        return CUDA_ERROR_INVALID_VALUE;
    if (which == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
        *(unsigned int *)data = CU_MEMORYTYPE_DEVICE;
    else if (which == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
        *(CUdeviceptr *)data = start;
    else
        *(size_t *)data = (start == FIRST ? SECOND : END) - start;
    return CUDA_SUCCESS;
}

static int start(void **state) {
    (void)state;
    worker.driver.cuDeviceGetAttribute = attribute;
    worker.driver.cuPointerGetAttribute = pointer;
    return 0;
}

/* Runs first: once a device reaches the worker's memory, all is looked at. */
static void test_where_it_does_not_reach(void **state) {
    CUstreamBatchMemOpParams op = {.operation = 99};

    (void)state;
    pageable = 0;
    addresses_start(&worker);
    assert_true(addresses_ok(&worker, 0x5000, 4096));
    assert_true(addresses_rows_ok(&worker, 0x5000, UINT64_MAX, 4, 99));
    assert_true(addresses_operations_ok(&worker, &op, 1));
    pageable = 1;
    addresses_start(&worker);
}

static void test_ranges(void **state) {
    (void)state;
    assert_true(addresses_ok(&worker, FIRST, END - FIRST)); /* over both */
    assert_false(addresses_ok(&worker, FIRST, END - FIRST + 1));
    assert_false(addresses_ok(&worker, FIRST - 1, 2));
    assert_false(addresses_ok(&worker, 0x5000, 1));
    assert_true(addresses_ok(&worker, REGION, 4096));
    assert_false(addresses_ok(&worker, REGION, 4097));
    assert_false(addresses_ok(&worker, END - 1, UINT64_MAX));
}

static void test_rows(void **state) {
    (void)state;
    assert_true(addresses_rows_ok(&worker, FIRST, 0x1000, 0x1000, 3));
    assert_false(addresses_rows_ok(&worker, FIRST, 0x1000, 0x1000, 4));
    assert_true(addresses_rows_ok(&worker, FIRST, 0x2f00, 0x100, 2));
    assert_false(addresses_rows_ok(&worker, FIRST, 0x2f00, 0x101, 2));
    assert_false(addresses_rows_ok(&worker, FIRST, UINT64_MAX, 4, 3));
    assert_true(addresses_rows_ok(&worker, 1, 1, 1, 0)); /* nothing is touched */
}

static void test_places(void **state) {
    const struct vcuda_copy3d c = {.width = 16, .rows = 2, .slices = 2};
    struct vcuda_place p = {.base = FIRST, .pitch = 0x100, .height = 0x10, .z = 1};

    (void)state;
    assert_true(addresses_place_ok(&worker, &c, &p));
    p.z = 2; /* its last slice begins at the end */
    assert_false(addresses_place_ok(&worker, &c, &p));
    p.z = UINT64_MAX;
    assert_false(addresses_place_ok(&worker, &c, &p));
}

static void test_operations(void **state) {
    CUstreamBatchMemOpParams ops[3] = {
        {.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64, .address = END - 8}},
        {.operation = CU_STREAM_MEM_OP_BARRIER},
        {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = REGION + 4}},
    };

    (void)state;
    assert_true(addresses_operations_ok(&worker, ops, 3));
    ops[0].waitValue.address = END - 4;
    assert_false(addresses_operations_ok(&worker, ops, 3));
    ops[0].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    assert_true(addresses_operations_ok(&worker, ops, 3));
    ops[2].writeValue.address = 0x7000;
    assert_false(addresses_operations_ok(&worker, ops, 3));
    assert_true(addresses_operations_ok(&worker, ops, 2));
    ops[1].operation = 99;
    assert_false(addresses_operations_ok(&worker, ops, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_it_does_not_reach),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_operations),
    };

    return cmocka_run_group_tests_name("addresses", tests, start, NULL);
}
