// SPDX-License-Identifier: Apache-2.0
/* Addresses that are kept apart: taken once, kept for a while, never somebody else's. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "reserve.h"

/* Where nothing of a sanitizer's lies. */
#define BASE 0x300000000000ull
#define PAGE 4096ull
#define AT(page) (BASE + (page)*PAGE)

/* Whether nothing is mapped on that page. */
static bool page_free(uint64_t page) {
    void *want = (void *)AT(page);
    void *got =
        mmap(want, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (got == MAP_FAILED)
        return false;
    munmap(got, PAGE);
    return got == want;
}

static uint64_t pages_held(uint64_t from, uint64_t to) {
    uint64_t held = 0;

    for (uint64_t page = from; page < to; page++)
        held += !page_free(page);
    return held;
}

static int start_empty(void **state) {
    (void)state;
    reserve_forget();
    return 0;
}

static void test_kept_and_taken_again(void **state) {
    (void)state;
    assert_true(reserve_take(AT(0), AT(4)));
    assert_int_equal(pages_held(0, 6), 4);
    reserve_give(AT(0), AT(4));
    assert_int_equal(pages_held(0, 6), 4);
    /* In parts, of which the rest is still kept. */
    assert_true(reserve_take(AT(1), AT(2)));
    assert_true(reserve_take(AT(3), AT(4)));
    reserve_forget();
    assert_false(page_free(1));
    assert_false(page_free(3));
    assert_int_equal(pages_held(0, 6), 2);
    reserve_give(AT(1), AT(2));
    reserve_give(AT(3), AT(4));
    reserve_forget();
    assert_int_equal(pages_held(0, 6), 0);
}

/* A large one comes where several were, side by side and not. */
static void test_larger_than_what_is_kept(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        assert_true(reserve_take(AT(2 * i), AT(2 * i + 1)));
    for (uint64_t i = 0; i < 4; i++)
        reserve_give(AT(2 * i), AT(2 * i + 1));
    assert_true(reserve_take(AT(1), AT(7)));
    assert_int_equal(pages_held(0, 8), 7); /* the first is kept still */
    reserve_give(AT(1), AT(7));            /* and touches this one */
    assert_true(reserve_take(AT(0), AT(7)));
    assert_int_equal(pages_held(0, 8), 7);
    reserve_give(AT(0), AT(7));
    reserve_forget();
    assert_int_equal(pages_held(0, 8), 0);
}

static void test_program_has_a_mapping_there(void **state) {
    char *own;

    (void)state;
    assert_true(reserve_take(AT(0), AT(2)));
    reserve_give(AT(0), AT(2));
    own = mmap((void *)AT(2), PAGE, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(own, (void *)AT(2));
    *own = 'x';
    assert_false(reserve_take(AT(1), AT(3)));
    assert_int_equal(*own, 'x');
    assert_int_equal(munmap(own, PAGE), 0);
    assert_true(reserve_take(AT(1), AT(3)));
    reserve_give(AT(1), AT(3));
}

/* No more than some are kept, and those that came last. */
static void test_old_ones_go(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        assert_true(reserve_take(AT(2 * i), AT(2 * i + 1)));
    for (uint64_t i = 0; i < 100; i++)
        reserve_give(AT(2 * i), AT(2 * i + 1));
    assert_in_range(pages_held(0, 200), 1, 64);
    assert_true(page_free(0));
    assert_false(page_free(198));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_kept_and_taken_again, start_empty),
        cmocka_unit_test_setup(test_larger_than_what_is_kept, start_empty),
        cmocka_unit_test_setup(test_program_has_a_mapping_there, start_empty),
        cmocka_unit_test_setup(test_old_ones_go, start_empty),
    };

    return cmocka_run_group_tests_name("reserve", tests, NULL, NULL);
}
