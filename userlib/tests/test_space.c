// SPDX-License-Identifier: Apache-2.0
/* The arena's addresses: none is given twice, and all come back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "space.h"

#define PAGE 4096ull
#define ALL (SPACE_END - SPACE_BASE)

static void test_lowest_first(void **state) {
    (void)state;
    assert_int_equal(space_take(PAGE), SPACE_BASE);
    assert_int_equal(space_take(8 * PAGE), SPACE_BASE + PAGE);
    space_give(SPACE_BASE, PAGE);
    assert_int_equal(space_take(2 * PAGE), SPACE_BASE + 9 * PAGE);
    assert_int_equal(space_take(PAGE), SPACE_BASE);
    space_give(SPACE_BASE, PAGE);
    space_give(SPACE_BASE + PAGE, 8 * PAGE);
    space_give(SPACE_BASE + 9 * PAGE, 2 * PAGE);
}

static void test_no_more_than_there_is(void **state) {
    (void)state;
    assert_int_equal(space_take(ALL + PAGE), 0);
    assert_int_equal(space_take(ALL), SPACE_BASE);
    assert_int_equal(space_take(PAGE), 0);
    space_give(SPACE_BASE + 16 * PAGE, ALL - 16 * PAGE);
    space_give(SPACE_BASE, 16 * PAGE);
}

/* In any order: in the end they are one run again. */
static void test_comes_back(void **state) {
    uint64_t at[97];

    (void)state;
    for (uint64_t i = 0; i < 97; i++)
        at[i] = space_take((i % 5 + 1) * PAGE);
    for (uint64_t i = 0; i < 97; i++)
        for (uint64_t k = 0; k < i; k++)
            assert_true(at[k] + (k % 5 + 1) * PAGE <= at[i] || at[i] + (i % 5 + 1) * PAGE <= at[k]);
    for (uint64_t i = 0; i < 97; i++) {
        uint64_t k = i * 31 % 97;

        space_give(at[k], (k % 5 + 1) * PAGE);
    }
    assert_int_equal(space_take(ALL), SPACE_BASE);
    space_give(SPACE_BASE, ALL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lowest_first),
        cmocka_unit_test(test_no_more_than_there_is),
        cmocka_unit_test(test_comes_back),
    };

    return cmocka_run_group_tests_name("space", tests, NULL, NULL);
}
