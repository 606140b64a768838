// SPDX-License-Identifier: Apache-2.0
/* Handles that programs pass to each other: names that mean something to one owner alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "handoff.h"

static struct vcuda_handoffs *own, *other;

static int setup(void **state) {
    (void)state;
    own = calloc(1, sizeof(*own));
    other = calloc(1, sizeof(*other));
    return own && other ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    free(own);
    free(other);
    return 0;
}

struct bytes {
    uint8_t b[VCUDA_HANDOFF_BYTES];
};

static struct bytes handle_of(int what) {
    struct bytes h;

    memset(h.b, what, sizeof(h.b));
    return h;
}

static struct bytes give(uint32_t place, uint64_t key, int what) {
    struct bytes h = handle_of(what), name;

    assert_true(vcuda_handoff_give(own, place, key, h.b, name.b));
    assert_memory_not_equal(name.b, h.b, sizeof(h.b));
    return name;
}

static void test_found_by_its_owner_alone(void **state) {
    struct bytes name = give(3, 4096, 7), expected = handle_of(7), found = {{0}};

    (void)state;
    assert_true(vcuda_handoff_find(own, name.b, found.b));
    assert_memory_equal(found.b, expected.b, sizeof(found.b));
    assert_false(vcuda_handoff_find(other, name.b, found.b));
    /* The driver's own handle is no name, nor is nothing, nor what is nearly one. */
    assert_false(vcuda_handoff_find(own, expected.b, found.b));
    memset(&expected, 0, sizeof(expected));
    assert_false(vcuda_handoff_find(own, expected.b, found.b));
    name.b[63] ^= 1;
    assert_false(vcuda_handoff_find(own, name.b, found.b));
}

static void test_one_name_as_long_as_it_lives(void **state) {
    struct bytes first = give(1, 4096, 1), again = give(1, 4096, 1), found;

    (void)state;
    assert_memory_equal(first.b, again.b, sizeof(first.b));
    vcuda_handoff_end(own, 2, 4096); /* of another worker */
    assert_true(vcuda_handoff_find(own, first.b, found.b));
    vcuda_handoff_end(own, 1, 4096);
    assert_false(vcuda_handoff_find(own, first.b, found.b));
    again = give(1, 4096, 1);
    assert_memory_not_equal(first.b, again.b, sizeof(first.b));
}

static void test_a_dead_worker_leaves_nothing(void **state) {
    struct bytes dead = give(1, 1, 1), alive = give(2, 1, 2), found;

    (void)state;
    vcuda_handoff_clear(own, 1);
    assert_false(vcuda_handoff_find(own, dead.b, found.b));
    assert_true(vcuda_handoff_find(own, alive.b, found.b));
}

static void test_full(void **state) {
    struct bytes h = handle_of(1), name;

    (void)state;
    for (uint64_t key = 0; key < VCUDA_HANDOFFS; key++)
        give(1, key, 1);
    assert_false(vcuda_handoff_give(own, 2, 0, h.b, name.b));
    vcuda_handoff_end(own, 1, 5);
    assert_true(vcuda_handoff_give(own, 2, 0, h.b, name.b));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_found_by_its_owner_alone),
        TEST(test_one_name_as_long_as_it_lives),
        TEST(test_a_dead_worker_leaves_nothing),
        TEST(test_full),
    };

    return cmocka_run_group_tests_name("handles between programs", tests, NULL, NULL);
}
