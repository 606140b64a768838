// SPDX-License-Identifier: Apache-2.0
/* What waits to be freed: none of it too early, all of it in the end, the oldest first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "limbo.h"

static int order[3];
static int released;

static void release(void *object) {
    order[released++] = *(int *)object;
}

/* What another gets may be the last hold on a third. */
static void release_and_put(void *object) {
    release(object);
    limbo_put(object, release);
}

static void test_in_turn(void **state) {
    int numbers[] = {1, 2, 3};

    (void)state;
    limbo_empty(0);
    limbo_put(&numbers[0], release);
    limbo_put(&numbers[1], release);
    limbo_empty(UINT64_MAX);
    assert_int_equal(released, 0);
    limbo_empty(0);
    assert_int_equal(released, 2);
    limbo_put(&numbers[2], release);
    limbo_empty(UINT64_MAX);
    assert_int_equal(released, 2);
    limbo_empty(0);
    assert_int_equal(released, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(order[i], numbers[i]);
}

static void test_put_meanwhile(void **state) {
    int number = 7;

    (void)state;
    released = 0;
    limbo_put(&number, release_and_put);
    limbo_empty(0);
    assert_int_equal(released, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_turn),
        cmocka_unit_test(test_put_meanwhile),
    };

    return cmocka_run_group_tests_name("limbo", tests, NULL, NULL);
}
