// SPDX-License-Identifier: Apache-2.0
/* Copies get as many helpers as make them faster, on machines that are made up here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pace.h"

#define MOST 3
#define BYTES (1u << 20)

/* Nanoseconds of a copy with 0, 1, 2, 3 helpers. */
static const uint64_t alone[] = {80000, 48000, 32000, 24000};     /* nobody else is there */
static const uint64_t crowded[] = {80000, 90000, 120000, 500000}; /* helpers wait for processors */
static const uint64_t enough[] = {80000, 48000, 46000, 45000};    /* two fill the memory's bus */

static void run(struct pace *p, uint32_t most, const uint64_t *ns, unsigned int copies) {
    while (copies--) {
        uint32_t helpers = pace_helpers(p, most);

        assert_true(helpers <= most);
        pace_learn(p, most, BYTES, ns[helpers]);
    }
}

/* The number between trials. */
static uint32_t usual(struct pace *p, uint32_t most, const uint64_t *ns) {
    run(p, most, ns, 1000);
    while (p->trial)
        run(p, most, ns, 1);
    return pace_helpers(p, most);
}

static void test_as_many_as_help(void **state) {
    struct pace p = {0};

    (void)state;
    assert_int_equal(pace_helpers(&p, MOST), MOST);
    assert_int_equal(usual(&p, MOST, alone), 3);
    assert_int_equal(usual(&p, MOST, enough), 1);
    assert_int_equal(usual(&p, MOST, crowded), 0);
    assert_int_equal(usual(&p, MOST, alone), 3);
}

static void test_one_helper_at_most(void **state) {
    struct pace p = {0};

    (void)state;
    assert_int_equal(usual(&p, 1, alone), 1);
    assert_int_equal(usual(&p, 1, crowded), 0);
    assert_int_equal(usual(&p, 1, alone), 1);
}

/* Trials are few: what they cost is little. */
static void test_trials_are_few(void **state) {
    struct pace p = {0};
    unsigned int trials = 0;

    (void)state;
    usual(&p, MOST, alone);
    for (unsigned int i = 0; i < 10000; i++) {
        trials += pace_helpers(&p, MOST) != MOST;
        run(&p, MOST, alone, 1);
    }
    assert_in_range(trials, 100, 1200);
}

/* A clock that stands still divides nothing by nothing. */
static void test_no_time_at_all(void **state) {
    static const uint64_t none[MOST + 1];
    struct pace p = {0};

    (void)state;
    assert_in_range(usual(&p, MOST, none), 0, MOST);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_many_as_help),
        cmocka_unit_test(test_one_helper_at_most),
        cmocka_unit_test(test_trials_are_few),
        cmocka_unit_test(test_no_time_at_all),
    };

    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
