// SPDX-License-Identifier: Apache-2.0
/* What is known of contexts that have ended: the latest ones, and nothing of others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ended.h"

static void test_nothing_yet(void **state) {
    struct ended what;

    (void)state;
    assert_false(ended_find(0, &what));
    assert_false(ended_find(1, &what));
}

static void test_the_latest_are_known(void **state) {
    struct ended what;

    (void)state;
    for (uint64_t name = 1; name <= 3 * ENDED_MAX; name++)
        ended_note(&(struct ended){name, (CUdevice)(name % 5), (unsigned int)(name % 7)});
    for (uint64_t name = 1; name <= 3 * ENDED_MAX; name++) {
        assert_int_equal(ended_find(name, &what), name > 2 * ENDED_MAX);
        if (name > 2 * ENDED_MAX) {
            assert_int_equal(what.name, name);
            assert_int_equal(what.device, name % 5);
            assert_int_equal(what.flags, name % 7);
        }
    }
    assert_false(ended_find(3 * ENDED_MAX + 1, &what));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_yet),
        cmocka_unit_test(test_the_latest_are_known),
    };

    return cmocka_run_group_tests_name("ended", tests, NULL, NULL);
}
