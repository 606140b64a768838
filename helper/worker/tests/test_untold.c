// SPDX-License-Identifier: Apache-2.0
/* Errors of posted calls: whose they are, and that each is told once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "untold.h"

static void test_told_once_to_its_thread(void **state) {
    (void)state;
    assert_int_equal(untold_take(1), CUDA_SUCCESS);
    untold_note(1, CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(untold_take(2), CUDA_SUCCESS);
    assert_int_equal(untold_take(1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(untold_take(1), CUDA_SUCCESS);
}

static void test_the_first_stays(void **state) {
    (void)state;
    untold_note(1, CUDA_ERROR_INVALID_HANDLE);
    untold_note(2, CUDA_ERROR_OUT_OF_MEMORY);
    untold_note(1, CUDA_ERROR_INVALID_VALUE);
    untold_note(1, CUDA_SUCCESS);
    assert_int_equal(untold_take(1), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(untold_take(1), CUDA_SUCCESS);
    assert_int_equal(untold_take(2), CUDA_ERROR_OUT_OF_MEMORY);
}

/* All calls of the context tell it. */
static void test_a_fault_is_nobody_s(void **state) {
    (void)state;
    untold_note(1, CUDA_ERROR_ILLEGAL_ADDRESS);
    untold_note(1, CUDA_ERROR_LAUNCH_FAILED);
    assert_int_equal(untold_take(1), CUDA_SUCCESS);
}

/* A thread is never told another's, whatever its number. */
static void test_wild_numbers(void **state) {
    (void)state;
    untold_note(7, CUDA_ERROR_INVALID_VALUE);
    untold_note(7 + 4096, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(untold_take(7), CUDA_SUCCESS);
    assert_int_equal(untold_take(7 + 4096), CUDA_ERROR_OUT_OF_MEMORY);
    untold_note(UINT32_MAX, CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(untold_take(UINT32_MAX), CUDA_ERROR_INVALID_VALUE);
    untold_note(0, CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(untold_take(0), CUDA_ERROR_INVALID_VALUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told_once_to_its_thread),
        cmocka_unit_test(test_the_first_stays),
        cmocka_unit_test(test_a_fault_is_nobody_s),
        cmocka_unit_test(test_wild_numbers),
    };

    return cmocka_run_group_tests_name("errors of posted calls", tests, NULL, NULL);
}
