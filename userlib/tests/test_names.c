// SPDX-License-Identifier: Apache-2.0
/* The library's names of objects: what a stale or wild one finds, and how many there can be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "names.h"

static int object, other;

static void test_new_get_end(void **state) {
    uint64_t name = names_new(VCUDA_KIND_STREAM, &object);

    (void)state;
    assert_int_not_equal(name, 0);
    assert_int_equal(vcuda_name_kind(name), VCUDA_KIND_STREAM);
    assert_ptr_equal(names_get(VCUDA_KIND_STREAM, name), &object);
    assert_ptr_equal(names_end(VCUDA_KIND_STREAM, name), &object);
    assert_null(names_get(VCUDA_KIND_STREAM, name));
    assert_null(names_end(VCUDA_KIND_STREAM, name));
}

static void test_kinds_are_apart(void **state) {
    uint64_t name = names_new(VCUDA_KIND_EVENT, &object);

    (void)state;
    for (int kind = VCUDA_KIND_CONTEXT; kind < VCUDA_KIND_MAX; kind++) {
        if (kind != VCUDA_KIND_EVENT) {
            assert_null(names_get(kind, name));
            assert_null(names_end(kind, name));
        }
    }
    assert_ptr_equal(names_end(VCUDA_KIND_EVENT, name), &object);
}

static void test_reused_place_has_another_name(void **state) {
    uint64_t old = names_new(VCUDA_KIND_STREAM, &object), fresh;

    (void)state;
    names_end(VCUDA_KIND_STREAM, old);
    fresh = names_new(VCUDA_KIND_STREAM, &other);
    assert_int_equal(vcuda_name_index(fresh), vcuda_name_index(old));
    assert_int_not_equal(fresh, old);
    assert_null(names_get(VCUDA_KIND_STREAM, old));
    assert_null(names_end(VCUDA_KIND_STREAM, old));
    assert_ptr_equal(names_end(VCUDA_KIND_STREAM, fresh), &other);
}

static void test_what_was_a_name_once(void **state) {
    uint64_t old = names_new(VCUDA_KIND_STREAM, &object), fresh;
    uint32_t index = vcuda_name_index(old), generation = vcuda_name_generation(old);

    (void)state;
    assert_false(names_ended(VCUDA_KIND_STREAM, old));
    names_end(VCUDA_KIND_STREAM, old);
    assert_true(names_ended(VCUDA_KIND_STREAM, old));
    assert_false(names_ended(VCUDA_KIND_EVENT, old));
    fresh = names_new(VCUDA_KIND_STREAM, &other);
    assert_int_equal(vcuda_name_index(fresh), index);
    assert_true(names_ended(VCUDA_KIND_STREAM, old));
    assert_false(names_ended(VCUDA_KIND_STREAM, fresh));
    /* Not yet, never, and no names at all. */
    assert_false(
        names_ended(VCUDA_KIND_STREAM, vcuda_name(VCUDA_KIND_STREAM, generation + 2, index)));
    assert_false(names_ended(VCUDA_KIND_STREAM, vcuda_name(VCUDA_KIND_STREAM, 0, index)));
    assert_false(names_ended(VCUDA_KIND_STREAM, vcuda_name(VCUDA_KIND_STREAM, 1, 0)));
    assert_false(
        names_ended(VCUDA_KIND_STREAM, vcuda_name(VCUDA_KIND_STREAM, 1, VCUDA_NAME_INDEX_MAX)));
    assert_false(names_ended(VCUDA_KIND_STREAM, old + 1));
    assert_false(names_ended(VCUDA_KIND_STREAM, 0));
    assert_ptr_equal(names_end(VCUDA_KIND_STREAM, fresh), &other);
}

static void test_retired_place_is_kept(void **state) {
    uint64_t old = names_new(VCUDA_KIND_EVENT, &object), fresh, third;

    (void)state;
    assert_ptr_equal(names_retire(VCUDA_KIND_EVENT, old), &object);
    assert_null(names_get(VCUDA_KIND_EVENT, old));
    assert_null(names_retire(VCUDA_KIND_EVENT, old));
    assert_null(names_end(VCUDA_KIND_EVENT, old));
    fresh = names_new(VCUDA_KIND_EVENT, &other);
    assert_int_not_equal(vcuda_name_index(fresh), vcuda_name_index(old));
    names_reuse(VCUDA_KIND_EVENT, old);
    third = names_new(VCUDA_KIND_EVENT, &other);
    assert_int_equal(vcuda_name_index(third), vcuda_name_index(old));
    assert_ptr_equal(names_end(VCUDA_KIND_EVENT, fresh), &other);
    assert_ptr_equal(names_end(VCUDA_KIND_EVENT, third), &other);
}

/* A generation has 16 bits: it comes again, but never as the name before. */
static void test_generation_wraps(void **state) {
    uint64_t first = names_new(VCUDA_KIND_STREAM, &object), name = first, before;
    unsigned int rounds = 0;

    (void)state;
    do {
        before = name;
        names_end(VCUDA_KIND_STREAM, name);
        name = names_new(VCUDA_KIND_STREAM, &object);
        assert_int_not_equal(name, before);
        assert_null(names_get(VCUDA_KIND_STREAM, before));
        rounds++;
    } while (name != first && rounds < 0x20000);
    assert_int_equal(rounds, 0x10000);
    names_end(VCUDA_KIND_STREAM, name);
}

static void test_wild_names(void **state) {
    uint64_t live = names_new(VCUDA_KIND_MODULE, &object);
    const uint64_t wild[] = {
        0,
        1,
        2,
        UINT64_MAX,
        (uint64_t)(uintptr_t)&object,
        live + 1,
        live | 8,
        live | 1ull << 44,
        live | 1ull << 63,
        live + (1ull << 24),
        vcuda_name(VCUDA_KIND_MODULE, 0, 0),
        vcuda_name(VCUDA_KIND_MODULE, 1, VCUDA_NAME_INDEX_MAX),
        vcuda_name(VCUDA_KIND_MAX, 1, 1),
        15ull << 40,
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
        for (int kind = VCUDA_KIND_CONTEXT; kind < VCUDA_KIND_MAX; kind++) {
            assert_null(names_get(kind, wild[i]));
            assert_null(names_end(kind, wild[i]));
        }
    }
    assert_ptr_equal(names_end(VCUDA_KIND_MODULE, live), &object);
}

static int is_other(const void *o, const void *arg) {
    return o == arg;
}

static int released;

static void release(void *o) {
    assert_ptr_equal(o, &other);
    released++;
}

static void test_end_if(void **state) {
    uint64_t names[3000];

    (void)state;
    for (int i = 0; i < 3000; i++)
        names[i] = names_new(VCUDA_KIND_FUNCTION, i % 3 ? &object : &other);
    names_end_if(VCUDA_KIND_FUNCTION, is_other, &other, release);
    assert_int_equal(released, 1000);
    for (int i = 0; i < 3000; i++)
        assert_ptr_equal(names_end(VCUDA_KIND_FUNCTION, names[i]), i % 3 ? &object : NULL);
}

static void test_any(void **state) {
    uint64_t name = names_new(VCUDA_KIND_MODULE, &object), more;

    (void)state;
    assert_false(names_any(VCUDA_KIND_MODULE, is_other, &other));
    more = names_new(VCUDA_KIND_MODULE, &other);
    assert_true(names_any(VCUDA_KIND_MODULE, is_other, &other));
    names_end(VCUDA_KIND_MODULE, more);
    assert_false(names_any(VCUDA_KIND_MODULE, is_other, &other));
    names_end(VCUDA_KIND_MODULE, name);
}

static void test_next(void **state) {
    uint64_t names[2], between = names_new(VCUDA_KIND_EVENT, &object);

    (void)state;
    for (int i = 0; i < 2; i++) {
        names[i] = names_new(VCUDA_KIND_EVENT, &other);
        names_end(VCUDA_KIND_EVENT, between);
        between = names_new(VCUDA_KIND_EVENT, &object);
    }
    assert_int_equal(names_next(VCUDA_KIND_EVENT, 0, is_other, &other), names[0]);
    assert_int_equal(names_next(VCUDA_KIND_EVENT, names[0], is_other, &other), names[1]);
    assert_int_equal(names_next(VCUDA_KIND_EVENT, names[1], is_other, &other), 0);
    names_end(VCUDA_KIND_EVENT, names[0]);
    assert_int_equal(names_next(VCUDA_KIND_EVENT, names[0], is_other, &other), names[1]);
    names_end(VCUDA_KIND_EVENT, names[1]);
    names_end(VCUDA_KIND_EVENT, between);
}

static void test_exhaustion(void **state) {
    uint64_t *names = calloc(VCUDA_NAME_INDEX_MAX, sizeof(*names)), more;

    (void)state;
    assert_non_null(names);
    for (uint32_t i = 0; i < VCUDA_NAME_INDEX_MAX; i++) {
        names[i] = names_new(VCUDA_KIND_KERNEL, &object);
        if (!names[i])
            fail_msg("only %u names", i);
    }
    assert_int_equal(names_new(VCUDA_KIND_KERNEL, &object), 0);
    /* One that ends makes room for one, and harms none of the others. */
    assert_ptr_equal(names_end(VCUDA_KIND_KERNEL, names[77]), &object);
    more = names_new(VCUDA_KIND_KERNEL, &other);
    assert_ptr_equal(names_get(VCUDA_KIND_KERNEL, more), &other);
    assert_int_equal(names_new(VCUDA_KIND_KERNEL, &object), 0);
    names[77] = more;
    for (uint32_t i = 0; i < VCUDA_NAME_INDEX_MAX; i++)
        assert_non_null(names_end(VCUDA_KIND_KERNEL, names[i]));
    free(names);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_get_end),
        cmocka_unit_test(test_kinds_are_apart),
        cmocka_unit_test(test_reused_place_has_another_name),
        cmocka_unit_test(test_what_was_a_name_once),
        cmocka_unit_test(test_retired_place_is_kept),
        cmocka_unit_test(test_generation_wraps),
        cmocka_unit_test(test_wild_names),
        cmocka_unit_test(test_end_if),
        cmocka_unit_test(test_any),
        cmocka_unit_test(test_next),
        cmocka_unit_test(test_exhaustion),
    };

    return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
