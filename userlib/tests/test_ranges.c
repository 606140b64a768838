// SPDX-License-Identifier: Apache-2.0
/* Device memory by address: found again, kept apart from the program's own mappings. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "ranges.h"
#include "reserve.h"

/* Where nothing of a sanitizer's lies. */
#define BASE 0x300000000000ull
#define PAGE 4096ull
#define CONTEXT 7
#define OTHER 8

/* Whether nothing is mapped on that page, but for what is kept for a while. */
static bool page_free(uint64_t page) {
    void *want = (void *)page, *got;

    reserve_forget();
    got = mmap(want, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED)
        return false;
    munmap(got, PAGE);
    return got == want;
}

static void test_reserved_while_it_lives(void **state) {
    (void)state;
    assert_true(ranges_add(RANGE_PLAIN, BASE, 3 * PAGE, CONTEXT));
    for (int i = 0; i < 3; i++)
        assert_false(page_free(BASE + (uint64_t)i * PAGE));
    assert_true(page_free(BASE + 3 * PAGE));
    assert_true(ranges_remove(BASE));
    for (int i = 0; i < 3; i++)
        assert_true(page_free(BASE + (uint64_t)i * PAGE));
    assert_false(ranges_remove(BASE));
}

static void test_find_at_bounds(void **state) {
    struct range r;

    (void)state;
    assert_true(ranges_add(RANGE_PLAIN, BASE, 1000, CONTEXT));
    assert_true(ranges_add(RANGE_PLAIN, BASE + 1024, 1000, OTHER));
    assert_true(ranges_find(BASE, 1000, &r));
    assert_int_equal(r.start, BASE);
    assert_int_equal(r.size, 1000);
    assert_int_equal(r.context, CONTEXT);
    assert_true(ranges_find(BASE + 999, 1, &r));
    assert_false(ranges_find(BASE + 1000, 1, &r));
    assert_false(ranges_find(BASE + 999, 2, &r));
    assert_false(ranges_find(BASE - 1, 1, &r));
    assert_false(ranges_find(BASE, UINT64_MAX, &r));
    assert_false(ranges_find(0, 0, &r));
    assert_false(ranges_find(UINT64_MAX, 1, &r));
    assert_true(ranges_find(BASE + 1024, 1000, &r));
    assert_int_equal(r.context, OTHER);
    /* Only its start names an allocation. */
    assert_false(ranges_remove(BASE + 8));
    assert_true(ranges_remove(BASE));
    assert_true(ranges_remove(BASE + 1024));
    assert_false(ranges_find(BASE, 1, &r));
}

static void test_ids_differ(void **state) {
    struct range first, again;

    (void)state;
    assert_true(ranges_add(RANGE_PLAIN, BASE, PAGE, CONTEXT));
    assert_true(ranges_find(BASE, 1, &first));
    assert_true(ranges_remove(BASE));
    assert_true(ranges_add(RANGE_PLAIN, BASE, PAGE, CONTEXT));
    assert_true(ranges_find(BASE, 1, &again));
    assert_int_not_equal(first.id, again.id);
    assert_true(ranges_remove(BASE));
}

static void test_another_at_the_same_address_stays(void **state) {
    struct range first, again;

    (void)state;
    assert_true(ranges_add(RANGE_PLAIN, BASE, PAGE, CONTEXT));
    assert_true(ranges_find(BASE, 1, &first));
    assert_true(ranges_add(RANGE_PLAIN, BASE, PAGE, CONTEXT));
    assert_false(ranges_end(BASE, first.id));
    assert_false(ranges_end(BASE, 0));
    assert_true(ranges_find(BASE, 1, &again));
    assert_true(ranges_end(BASE, again.id));
    assert_false(ranges_find(BASE, 1, &again));
}

static void test_program_has_a_mapping_there(void **state) {
    struct range r;
    char *own = mmap((void *)(BASE + PAGE), PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    (void)state;
    assert_ptr_equal(own, (void *)(BASE + PAGE));
    *own = 'x';
    assert_false(ranges_add(RANGE_PLAIN, BASE, 4 * PAGE, CONTEXT));
    assert_false(ranges_find(BASE, 1, &r));
    assert_int_equal(*own, 'x');
    assert_true(page_free(BASE));
    assert_int_equal(munmap(own, PAGE), 0);
    assert_true(ranges_add(RANGE_PLAIN, BASE, 4 * PAGE, CONTEXT));
    assert_true(ranges_remove(BASE));
}

/* The driver hands out pieces of a page: it stays reserved until the last one ends. */
static void test_small_ones_share_pages(void **state) {
    const int pieces = 16; /* two pages */
    struct range r;

    (void)state;
    for (int i = 0; i < pieces; i++)
        assert_true(ranges_add(RANGE_PLAIN, BASE + 512u * (unsigned)i, 512, CONTEXT));
    for (int i = 1; i < pieces; i += 2)
        assert_true(ranges_remove(BASE + 512u * (unsigned)i));
    assert_false(page_free(BASE));
    assert_false(page_free(BASE + PAGE));
    for (int i = 0; i < pieces - 2; i += 2)
        assert_true(ranges_remove(BASE + 512u * (unsigned)i));
    assert_true(page_free(BASE));
    assert_false(page_free(BASE + PAGE));
    assert_true(ranges_find(BASE + 512 * 14, 512, &r));
    assert_true(ranges_remove(BASE + 512 * 14));
    assert_true(page_free(BASE + PAGE));
}

/* A large one whose first and last page are others' too. */
static void test_large_between_small(void **state) {
    (void)state;
    assert_true(ranges_add(RANGE_PLAIN, BASE, 512, CONTEXT));
    assert_true(ranges_add(RANGE_PLAIN, BASE + 3 * PAGE + 512, 512, CONTEXT));
    assert_true(ranges_add(RANGE_PLAIN, BASE + 512, 3 * PAGE, OTHER));
    assert_false(page_free(BASE + PAGE));
    assert_true(ranges_remove(BASE));
    assert_false(page_free(BASE));
    assert_true(ranges_remove(BASE + 512));
    assert_true(page_free(BASE));
    assert_true(page_free(BASE + 2 * PAGE));
    assert_false(page_free(BASE + 3 * PAGE));
    assert_true(ranges_remove(BASE + 3 * PAGE + 512));
    assert_true(page_free(BASE + 3 * PAGE));
}

static void test_forget_a_context(void **state) {
    struct range r;

    (void)state;
    for (uint64_t i = 0; i < 300; i++)
        assert_true(ranges_add(RANGE_PLAIN, BASE + i * PAGE, PAGE, i % 2 ? CONTEXT : OTHER));
    ranges_forget(CONTEXT);
    for (uint64_t i = 0; i < 300; i++) {
        assert_int_equal(ranges_find(BASE + i * PAGE, PAGE, &r), i % 2 == 0);
        assert_int_equal(page_free(BASE + i * PAGE), i % 2);
    }
    ranges_forget(OTHER);
    for (uint64_t i = 0; i < 300; i++)
        assert_true(page_free(BASE + i * PAGE));
}

/* What the driver hands out again is over. */
static void test_handed_out_again(void **state) {
    struct range r;

    (void)state;
    assert_true(ranges_add(RANGE_PLAIN, BASE, 2 * PAGE, CONTEXT));
    assert_true(ranges_add(RANGE_PLAIN, BASE + 2 * PAGE, 2 * PAGE, CONTEXT));
    assert_true(ranges_add(RANGE_POOL, BASE + PAGE, 2 * PAGE, OTHER));
    assert_false(ranges_find(BASE, 1, &r));
    assert_false(ranges_find(BASE + 3 * PAGE, 1, &r));
    assert_true(ranges_find(BASE + PAGE, 2 * PAGE, &r));
    assert_int_equal(r.kind, RANGE_POOL);
    assert_true(page_free(BASE));
    assert_true(page_free(BASE + 3 * PAGE));
    assert_true(ranges_remove(BASE + PAGE));
    assert_false(ranges_add(RANGE_PLAIN, BASE, 0, CONTEXT));
    assert_false(ranges_add(RANGE_PLAIN, BASE, UINT64_MAX, CONTEXT));
}

/* Mapped memory lies in addresses that are reserved already, and pieces that touch are one. */
static void test_mapped_pieces(void **state) {
    (void)state;
    assert_true(ranges_add(RANGE_MAPPED, BASE, PAGE, 0));
    assert_true(ranges_add(RANGE_MAPPED, BASE + PAGE, PAGE, 0));
    assert_true(ranges_add(RANGE_MAPPED, BASE + 3 * PAGE, PAGE, 0));
    assert_true(page_free(BASE));
    assert_false(ranges_cover(BASE, PAGE));
    ranges_set_usable(BASE, 4 * PAGE, true);
    assert_true(ranges_cover(BASE + 5, 2 * PAGE - 5));
    assert_false(ranges_cover(BASE + 5, 2 * PAGE));
    assert_false(ranges_cover(BASE, 4 * PAGE));
    assert_false(ranges_cover(BASE - 1, 2));
    assert_false(ranges_cover(UINT64_MAX, 1));
    ranges_set_usable(BASE + PAGE, PAGE, false);
    assert_true(ranges_cover(BASE, PAGE));
    assert_false(ranges_cover(BASE, PAGE + 1));
    assert_true(ranges_remove(BASE));
    assert_true(ranges_remove(BASE + PAGE));
    assert_true(ranges_remove(BASE + 3 * PAGE));
}

/* An allocation ends where it ends, whatever begins there. */
static void test_allocations_that_touch(void **state) {
    (void)state;
    assert_true(ranges_add(RANGE_PLAIN, BASE, PAGE, CONTEXT));
    assert_true(ranges_add(RANGE_PLAIN, BASE + PAGE, PAGE, CONTEXT));
    assert_true(ranges_add(RANGE_MAPPED, BASE + 2 * PAGE, PAGE, 0));
    ranges_set_usable(BASE + 2 * PAGE, PAGE, true);
    assert_true(ranges_cover(BASE, PAGE));
    assert_false(ranges_cover(BASE, PAGE + 1));
    assert_true(ranges_cover(BASE + PAGE, PAGE));
    assert_false(ranges_cover(BASE + PAGE, PAGE + 1));
    assert_true(ranges_remove(BASE + PAGE));
    assert_true(ranges_add(RANGE_PLAIN, BASE + 3 * PAGE, PAGE, CONTEXT));
    assert_true(ranges_cover(BASE + 2 * PAGE, PAGE));
    assert_false(ranges_cover(BASE + 2 * PAGE, PAGE + 1));
    for (uint64_t i = 0; i < 4; i++)
        assert_true(i == 1 || ranges_remove(BASE + i * PAGE));
}

/* Freed, a graph's memory stays: with its context it ends, or when its address is another's. */
static void test_take(void **state) {
    struct range r, again;

    (void)state;
    assert_true(ranges_add(RANGE_POOL, BASE, PAGE, 0));
    assert_true(ranges_add(RANGE_GRAPH, BASE + PAGE, PAGE, CONTEXT));
    assert_true(ranges_add(RANGE_MAPPED, BASE + 2 * PAGE, PAGE, 0));
    assert_false(ranges_take(BASE + 8, &r) || ranges_take(BASE + 2 * PAGE, &r));
    assert_true(ranges_take(BASE, &r));
    assert_false(ranges_find(BASE, 1, &again) || ranges_take(BASE, &again));
    ranges_put_back(&r);
    assert_true(ranges_find(BASE, PAGE, &again) && again.kind == RANGE_POOL);
    for (int i = 0; i < 2; i++) {
        assert_true(ranges_take(BASE + PAGE, &r));
        ranges_put_back(&r);
    }
    assert_true(ranges_find(BASE + PAGE, PAGE, &again) && again.id == r.id);
    assert_true(ranges_add(RANGE_PLAIN, BASE + PAGE, PAGE, OTHER));
    assert_true(ranges_take(BASE + PAGE, &r) && r.kind == RANGE_PLAIN);
    assert_true(ranges_add(RANGE_GRAPH, BASE + PAGE, PAGE, CONTEXT));
    ranges_forget(CONTEXT);
    assert_false(ranges_take(BASE + PAGE, &r));
    assert_true(ranges_remove(BASE) && ranges_remove(BASE + 2 * PAGE));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reserved_while_it_lives),
        cmocka_unit_test(test_find_at_bounds),
        cmocka_unit_test(test_ids_differ),
        cmocka_unit_test(test_another_at_the_same_address_stays),
        cmocka_unit_test(test_program_has_a_mapping_there),
        cmocka_unit_test(test_small_ones_share_pages),
        cmocka_unit_test(test_large_between_small),
        cmocka_unit_test(test_forget_a_context),
        cmocka_unit_test(test_handed_out_again),
        cmocka_unit_test(test_mapped_pieces),
        cmocka_unit_test(test_allocations_that_touch),
        cmocka_unit_test(test_take),
    };

    return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
