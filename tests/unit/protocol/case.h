/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * One way to write a test case that runs both inside a kernel (KUnit) and as a
 * program (cmocka). protocol/ is compiled on both sides, so its properties are
 * stated once and checked on both sides.
 *
 *   CASE(ring_is_empty_at_first) { ... EXPECT_EQ(a, b); ... }
 *   #define CASES(X) X(ring_is_empty_at_first) X(...)
 *   SUITE(ring, CASES)
 *
 * A helper that expects something takes CASE_ARG and is given `test`.
 */
#ifndef VCUDA_TESTS_CASE_H
#define VCUDA_TESTS_CASE_H

#ifdef __KERNEL__

#include <kunit/test.h>
#include <linux/string.h>

#define CASE_ARG struct kunit *test
#define EXPECT(what) KUNIT_ASSERT_TRUE(test, what)
#define EXPECT_EQ(a, b) KUNIT_ASSERT_EQ(test, (long long)(a), (long long)(b))
#define EXPECT_SAME(a, b, len) KUNIT_ASSERT_EQ(test, 0, memcmp(a, b, len))

#define CASE_ENTRY(name) KUNIT_CASE(name),
#define SUITE(title, cases)                                                                        \
    static struct kunit_case title##_cases[] = {cases(CASE_ENTRY){}};                              \
    static struct kunit_suite title##_suite = {                                                    \
        .name = "vcuda-" #title,                                                                   \
        .test_cases = title##_cases,                                                               \
    };                                                                                             \
    kunit_test_suite(title##_suite);

#else

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define CASE_ARG __attribute__((unused)) void **test
#define EXPECT(what) assert_true(what)
#define EXPECT_EQ(a, b) assert_int_equal((long long)(a), (long long)(b))
#define EXPECT_SAME(a, b, len) assert_memory_equal(a, b, len)

#define CASE_ENTRY(name) cmocka_unit_test(name),
#define SUITE(title, cases)                                                                        \
    int main(void) {                                                                               \
        const struct CMUnitTest all[] = {cases(CASE_ENTRY)};                                       \
        return cmocka_run_group_tests_name(#title, all, NULL, NULL);                               \
    }

#endif

#define CASE(name) static void name(CASE_ARG)

#endif
