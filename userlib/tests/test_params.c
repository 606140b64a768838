// SPDX-License-Identifier: Apache-2.0
/* Parameters of kernels: they go where the driver said, and nothing of what lay there goes along.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest.h"
#include "params.h"

#define PARAMS 4
#define ROOM 64

/* What the worker answers about a function. */
struct answer {
    struct vcuda_function_info info;
    struct vcuda_param param[PARAMS];
};

_Static_assert(offsetof(struct answer, param) == offsetof(struct vcuda_function_info, param),
               "as it travels");

static CUresult take(struct layout *l, const struct answer *a) {
    memset(l, 0, sizeof(*l));
    return params_take(l, &a->info, sizeof(a->info) + a->info.params * sizeof(a->param[0]));
}

static struct layout taken(const struct answer *a) {
    struct layout l;

    assert_int_equal(take(&l, a), CUDA_SUCCESS);
    return l;
}

static void expect_params(const struct layout *l, void **params, const uint8_t *expected,
                          size_t bytes) {
    uint8_t record[ROOM];

    memset(record, 0xee, sizeof(record)); /* an earlier record's */
    assert_int_equal(params_put(l, params, NULL, record), CUDA_SUCCESS);
    assert_memory_equal(record, expected, bytes);
    for (size_t i = bytes; i < sizeof(record); i++)
        assert_int_equal(record[i], 0xee);
}

/* As kernels of cuDNN and XLA have it: nothing lies at 0. */
static void first_lies_behind_others(void **state) {
    const struct answer a = {{.params = 2}, {{16, 8}, {24, 4}}};
    uint64_t pointer = 0x1122334455667788;
    uint32_t number = 0x99aabbcc;
    const uint8_t expected[32] = {[16] = 0x88, 0x77, 0x66, 0x55, 0x44, 0x33,
                                  0x22,        0x11, 0xcc, 0xbb, 0xaa, 0x99};
    struct layout l = taken(&a);
    size_t offset, size;

    (void)state;
    assert_int_equal(l.bytes, 28);
    expect_params(&l, (void *[]){&pointer, &number}, expected, sizeof(expected));
    assert_int_equal(params_answer(&l, 0, &offset, &size), CUDA_SUCCESS);
    assert_int_equal(offset, 16);
    assert_int_equal(size, 8);
    assert_int_equal(params_answer(&l, 2, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    free(l.param);
}

/* One buffer has all of it, also what lies before the first; its end may be missing. */
static void buffer_goes_as_it_is(void **state) {
    const struct answer a = {{.params = 2}, {{8, 8}, {16, 4}}};
    uint8_t given[20], expected[24] = {0}, record[ROOM];
    size_t size = 18;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, given, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    struct layout l = taken(&a);

    (void)state;
    for (uint8_t i = 0; i < sizeof(given); i++)
        given[i] = i + 1;
    memcpy(expected, given, size);
    memset(record, 0xee, sizeof(record));
    assert_int_equal(params_put(&l, NULL, extra, record), CUDA_SUCCESS);
    assert_memory_equal(record, expected, sizeof(expected));
    assert_int_equal(record[sizeof(expected)], 0xee);
    size = 21;
    assert_int_equal(params_put(&l, NULL, extra, record), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    free(l.param);
}

static void gaps_are_cleared(void **state) {
    const struct answer a = {{.params = 4}, {{0, 1}, {4, 4}, {16, 12}, {30, 3}}};
    uint8_t byte = 1, large[12] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, odd[3] = {4, 4, 4};
    uint32_t number = 2;
    const uint8_t expected[40] = {1, 0, 0, 0, 2, [16] = 3, 3, 3, 3, 3, 3,
                                  3, 3, 3, 3, 3, 3,        0, 0, 4, 4, 4};
    struct layout l = taken(&a);

    (void)state;
    expect_params(&l, (void *[]){&byte, &number, large, odd}, expected, sizeof(expected));
    free(l.param);
}

static void what_is_missing_is_refused(void **state) {
    const struct answer a = {{.params = 2}, {{8, 8}, {16, 4}}}, none = {0};
    struct layout l = taken(&a), empty = taken(&none);
    uint64_t value = 0;
    uint8_t record[ROOM];

    (void)state;
    assert_int_equal(params_put(&l, NULL, NULL, record), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(params_put(&l, (void *[]){&value, NULL}, NULL, record),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(params_put(&empty, NULL, NULL, record), CUDA_SUCCESS);
    free(l.param);
    free(empty.param);
}

static void nonsense_is_refused(void **state) {
    static const struct answer bad[] = {
        {{.params = VCUDA_PARAMS_MAX + 1}, {{0, 8}}},
        {{.params = 2}, {{0, 8}, {4, 8}}},                 /* one in another */
        {{.params = 2}, {{8, 8}, {0, 8}}},                 /* in another order */
        {{.params = 1}, {{VCUDA_PARAM_BYTES_MAX - 4, 8}}}, /* too far */
        {{.params = 1}, {{UINT32_MAX, UINT32_MAX}}},
    };
    const struct answer short_one = {{.params = 2}, {{0, 8}}};
    struct layout l;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        memset(&l, 0, sizeof(l));
        assert_int_equal(params_take(&l, &bad[i].info, sizeof(bad[i])), VCUDA_ERROR_LOST);
        free(l.param);
    }
    memset(&l, 0, sizeof(l));
    assert_int_equal(
        params_take(&l, &short_one.info, sizeof(short_one.info) + sizeof(struct vcuda_param)),
        VCUDA_ERROR_LOST);
    assert_int_equal(params_take(&l, &short_one.info, sizeof(short_one.info) - 1),
                     VCUDA_ERROR_LOST);
    assert_null(l.param);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_lies_behind_others), cmocka_unit_test(buffer_goes_as_it_is),
        cmocka_unit_test(gaps_are_cleared),         cmocka_unit_test(what_is_missing_is_refused),
        cmocka_unit_test(nonsense_is_refused),
    };

    return cmocka_run_group_tests_name("parameters of kernels", tests, NULL, NULL);
}
