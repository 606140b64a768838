// SPDX-License-Identifier: Apache-2.0
/* What is kept of a function's attributes when calls of several threads overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attributes.h"

#define SHARED CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
#define CARVEOUT CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT

static const int32_t values[VCUDA_FUNCTION_ATTRIBUTES] = {[SHARED] = 100, [CARVEOUT] = 7};

static void test_told_is_known_until_one_is_set(void **state) {
    struct attributes a = {0};
    int32_t value;

    (void)state;
    assert_false(attributes_get(&a, SHARED, &value));
    attributes_told(&a, attributes_before(&a), values);
    assert_true(attributes_get(&a, SHARED, &value));
    assert_int_equal(value, 100);
    assert_true(attributes_set(&a, attributes_before(&a), CARVEOUT, 8));
    assert_false(attributes_get(&a, SHARED, &value));
}

static void test_an_answer_from_before_a_change_is_not_kept(void **state) {
    struct attributes a = {0};
    uint32_t asked = attributes_before(&a);
    int32_t value;

    (void)state;
    attributes_set(&a, attributes_before(&a), SHARED, 200);
    attributes_told(&a, asked, values);
    assert_false(attributes_get(&a, SHARED, &value));
    asked = attributes_before(&a);
    attributes_forget(&a);
    attributes_told(&a, asked, values);
    assert_false(attributes_get(&a, SHARED, &value));
}

static void test_set_twice_to_the_same(void **state) {
    struct attributes a = {0};

    (void)state;
    assert_false(attributes_has(&a, SHARED, 0));
    assert_true(attributes_set(&a, attributes_before(&a), SHARED, 200));
    assert_true(attributes_has(&a, SHARED, 200));
    assert_false(attributes_has(&a, SHARED, 100));
    assert_false(attributes_has(&a, SHARED, -1));
    assert_false(attributes_has(&a, CARVEOUT, 200));
    attributes_set(&a, attributes_before(&a), CARVEOUT, 8);
    assert_true(attributes_has(&a, SHARED, 200));
    attributes_forget(&a);
    assert_false(attributes_has(&a, SHARED, 200));
}

/* The worker may have made them in either order. */
static void test_of_two_at_a_time_neither_is_the_last(void **state) {
    struct attributes a = {0};
    uint32_t one = attributes_before(&a), other = attributes_before(&a);

    (void)state;
    assert_true(attributes_set(&a, one, SHARED, 100));
    assert_false(attributes_set(&a, other, SHARED, 200));
    assert_false(attributes_has(&a, SHARED, 100));
    assert_false(attributes_has(&a, SHARED, 200));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told_is_known_until_one_is_set),
        cmocka_unit_test(test_an_answer_from_before_a_change_is_not_kept),
        cmocka_unit_test(test_set_twice_to_the_same),
        cmocka_unit_test(test_of_two_at_a_time_neither_is_the_last),
    };

    return cmocka_run_group_tests_name("attributes", tests, NULL, NULL);
}
