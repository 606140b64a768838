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

static struct vcuda_handed handed(int what) {
    struct vcuda_handed h;

    memset(&h, what, sizeof(h));
    return h;
}

static struct bytes give(uint32_t place, uint64_t key, int what) {
    struct vcuda_handed h = handed(what);
    struct bytes name;

    if (!vcuda_handoff_again(own, place, key, h.handle, name.b))
        assert_true(vcuda_handoff_give(own, place, key, &h, name.b));
    assert_memory_not_equal(name.b, h.handle, sizeof(h.handle));
    return name;
}

static void test_found_by_its_owner_alone(void **state) {
    struct vcuda_handed expected = handed(7), found = {0};
    struct bytes name = give(3, 4096, 7);

    (void)state;
    assert_true(vcuda_handoff_find(own, name.b, &found));
    assert_memory_equal(&found, &expected, sizeof(found));
    assert_false(vcuda_handoff_find(other, name.b, &found));
    /* The driver's own handle is no name, nor is nothing, nor what is nearly one. */
    assert_false(vcuda_handoff_find(own, expected.handle, &found));
    memset(&expected, 0, sizeof(expected));
    assert_false(vcuda_handoff_find(own, expected.handle, &found));
    name.b[63] ^= 1;
    assert_false(vcuda_handoff_find(own, name.b, &found));
}

static void test_one_name_as_long_as_it_lives(void **state) {
    struct bytes first = give(1, 4096, 1), again = give(1, 4096, 1);
    struct vcuda_handed found;

    (void)state;
    assert_memory_equal(first.b, again.b, sizeof(first.b));
    vcuda_handoff_end(own, 2, 4096); /* of another worker */
    assert_true(vcuda_handoff_find(own, first.b, &found));
    vcuda_handoff_end(own, 1, 4096);
    assert_false(vcuda_handoff_find(own, first.b, &found));
    again = give(1, 4096, 1);
    assert_memory_not_equal(first.b, again.b, sizeof(first.b));
}

static void test_a_dead_worker_leaves_nothing(void **state) {
    struct bytes dead = give(1, 1, 1), alive = give(2, 1, 2);
    struct vcuda_handed found;

    (void)state;
    vcuda_handoff_clear(own, 1);
    assert_false(vcuda_handoff_find(own, dead.b, &found));
    assert_true(vcuda_handoff_find(own, alive.b, &found));
}

static void test_full(void **state) {
    struct vcuda_handed h = handed(1);
    struct bytes name;

    (void)state;
    for (uint64_t key = 0; key < VCUDA_HANDOFFS; key++)
        give(1, key, 1);
    assert_false(vcuda_handoff_give(own, 2, 0, &h, name.b));
    vcuda_handoff_end(own, 1, 5);
    assert_true(vcuda_handoff_give(own, 2, 0, &h, name.b));
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
