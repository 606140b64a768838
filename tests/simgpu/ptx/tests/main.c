// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "tests.h"

static int clean(void **state) {
    (void)state;
    dev_reset();
    return 0;
}

#define ENTRY(name) cmocka_unit_test_teardown(name, clean),

int main(void) {
    const struct CMUnitTest tests[] = {ALL_TESTS(ENTRY)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
