// SPDX-License-Identifier: Apache-2.0
/* Notes of the worker's names: what replaces what, and what ends with what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "notes.h"
#include "record.h"

static int released;

static void release(void *data) {
    released += *(int *)data;
}

static uint64_t name_of(enum vcuda_kind kind, uint32_t index) {
    return vcuda_name(kind, 1, index);
}

static void test_set_and_end(void **state) {
    uint64_t exec = name_of(VCUDA_KIND_EXEC, 3);
    int one = 1, ten = 10;

    (void)state;
    released = 0;
    assert_false(notes_has(exec));
    assert_true(notes_set(exec, 0, &one, release));
    assert_true(notes_has(exec));
    assert_ptr_equal(notes_get(exec), &one);
    assert_true(notes_set(exec, 0, &ten, release));
    assert_int_equal(released, 1);
    assert_ptr_equal(notes_get(exec), &ten);
    notes_end(exec);
    assert_int_equal(released, 11);
    assert_false(notes_has(exec));
    notes_end(exec);
    assert_int_equal(released, 11);
    assert_null(notes_get(exec));
}

/* A graph takes its nodes, a node what is inside it; another graph's stay. */
static void test_owners(void **state) {
    uint64_t graph = name_of(VCUDA_KIND_GRAPH, 1), other = name_of(VCUDA_KIND_GRAPH, 2);
    uint64_t inner = name_of(VCUDA_KIND_GRAPH, 3), node = name_of(VCUDA_KIND_NODE, 1);
    uint64_t deep = name_of(VCUDA_KIND_NODE, 2), elsewhere = name_of(VCUDA_KIND_NODE, 3);
    int one = 1;

    (void)state;
    released = 0;
    assert_true(notes_set(node, graph, &one, release));
    assert_true(notes_set(inner, node, &one, release));
    assert_true(notes_set(deep, inner, &one, release));
    assert_true(notes_set(elsewhere, other, &one, release));
    /* The graph itself has no note. */
    notes_end(graph);
    assert_int_equal(released, 3);
    assert_false(notes_has(node) || notes_has(inner) || notes_has(deep));
    assert_true(notes_has(elsewhere));
    notes_end(other);
    assert_int_equal(released, 4);
}

/* Another owner: what is remembered stays, and ends with that one. */
static void test_given(void **state) {
    uint64_t graph = name_of(VCUDA_KIND_GRAPH, 1), inner = name_of(VCUDA_KIND_GRAPH, 2);
    uint64_t node = name_of(VCUDA_KIND_NODE, 1);
    int one = 1;

    (void)state;
    released = 0;
    assert_int_equal(notes_owner(inner), 0);
    assert_true(notes_set(inner, 0, &one, release));
    assert_true(notes_give(inner, node));
    assert_ptr_equal(notes_get(inner), &one);
    assert_int_equal(notes_owner(inner), node);
    /* One that there is not yet. */
    assert_true(notes_give(node, graph));
    assert_null(notes_get(node));
    assert_int_equal(released, 0);
    notes_end(graph);
    assert_int_equal(released, 1);
    assert_false(notes_has(inner) || notes_has(node));
}

/* What has no owner is not owned by the name that is none. */
static void test_none(void **state) {
    uint64_t exec = name_of(VCUDA_KIND_EXEC, 1), node = name_of(VCUDA_KIND_NODE, 1);
    int one = 1;

    (void)state;
    released = 0;
    assert_true(notes_set(exec, 0, &one, release));
    assert_true(notes_set(node, name_of(VCUDA_KIND_GRAPH, 1), &one, release));
    notes_end(0);
    assert_int_equal(released, 0);
    assert_true(notes_has(exec) && notes_has(node));
    notes_end(exec);
    notes_end(node);
}

/* Names that differ in their kind or generation alone share a bucket, not a note. */
static void test_many(void **state) {
    int one = 1;

    (void)state;
    released = 0;
    for (uint32_t i = 0; i < 20000; i++)
        assert_true(notes_set(vcuda_name(VCUDA_KIND_NODE, i & 3, i / 4), 0, &one, release));
    for (uint32_t i = 0; i < 20000; i += 2)
        notes_end(vcuda_name(VCUDA_KIND_NODE, i & 3, i / 4));
    assert_int_equal(released, 10000);
    for (uint32_t i = 0; i < 20000; i++)
        assert_int_equal(notes_has(vcuda_name(VCUDA_KIND_NODE, i & 3, i / 4)), i & 1);
    for (uint32_t i = 0; i < 20000; i++)
        notes_end(vcuda_name(VCUDA_KIND_NODE, i & 3, i / 4));
    assert_int_equal(released, 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_and_end), cmocka_unit_test(test_owners),
        cmocka_unit_test(test_given),       cmocka_unit_test(test_none),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests_name("notes", tests, NULL, NULL);
}
