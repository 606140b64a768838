// SPDX-License-Identifier: Apache-2.0
/* The session's table of names: what ends with what, and what a hostile name finds. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "barrier.h"
#include "objects.h"
#include "objects_free.h"

static struct objects objects;

static uint64_t name_of(enum vcuda_kind kind, uint32_t index) {
    return vcuda_name(kind, 1, index);
}

static int setup(void **state) {
    (void)state;
    objects_init(&objects);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    objects_free(&objects);
    return 0;
}

static void add(uint64_t name, uint64_t owner, uint64_t aux) {
    struct object o = {(void *)(uintptr_t)(name ^ 0x5555), owner, aux, 0};

    assert_true(objects_may_add(&objects, vcuda_name_kind(name), name));
    assert_true(objects_add(&objects, name, &o));
    assert_false(objects_may_add(&objects, vcuda_name_kind(name), name));
}

static bool there(uint64_t name) {
    struct object o;

    if (!objects_get(&objects, vcuda_name_kind(name), name, &o))
        return false;
    assert_ptr_equal(o.native, (void *)(uintptr_t)(name ^ 0x5555));
    return true;
}

static void test_end_takes_what_it_owns(void **state) {
    uint64_t c1 = name_of(VCUDA_KIND_CONTEXT, 1), c2 = name_of(VCUDA_KIND_CONTEXT, 2);
    uint64_t s1 = name_of(VCUDA_KIND_STREAM, 1), s2 = name_of(VCUDA_KIND_STREAM, 2);
    uint64_t m1 = name_of(VCUDA_KIND_MODULE, 1), m2 = name_of(VCUDA_KIND_MODULE, 2);
    uint64_t f1 = name_of(VCUDA_KIND_FUNCTION, 1), f2 = name_of(VCUDA_KIND_FUNCTION, 2);
    uint64_t e1 = name_of(VCUDA_KIND_EVENT, 500);

    (void)state;
    add(c1, 0, 0);
    add(c2, 0, 0);
    add(s1, c1, 0);
    add(s2, c2, 0);
    add(m1, c1, 0);
    add(m2, c2, 0);
    add(f1, m1, 16);
    add(f2, m2, 16);
    add(e1, c1, 0);
    objects_end(&objects, c1);
    assert_false(there(c1) || there(s1) || there(m1) || there(f1) || there(e1));
    assert_true(there(c2) && there(s2) && there(m2) && there(f2));
    /* A module's end takes its functions alone. */
    objects_end(&objects, m2);
    assert_false(there(m2) || there(f2));
    assert_true(there(c2) && there(s2));
    /* A stream owns nothing. */
    objects_end(&objects, s2);
    assert_false(there(s2));
    assert_true(there(c2));
}

static void test_stale_and_wild_names(void **state) {
    uint64_t live = vcuda_name(VCUDA_KIND_STREAM, 7, 3);
    const uint64_t wild[] = {0,
                             1,
                             UINT64_MAX,
                             live + 1,
                             live | 1ull << 44,
                             vcuda_name(VCUDA_KIND_STREAM, 6, 3),
                             vcuda_name(VCUDA_KIND_STREAM, 8, 3),
                             vcuda_name(VCUDA_KIND_STREAM, 7, 4),
                             vcuda_name(VCUDA_KIND_STREAM, 7, VCUDA_NAME_INDEX_MAX),
                             vcuda_name(VCUDA_KIND_MAX, 7, 3),
                             15ull << 40};
    struct object o;

    (void)state;
    add(live, 0, 0);
    for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
        for (int kind = VCUDA_KIND_CONTEXT; kind < VCUDA_KIND_MAX; kind++)
            assert_false(objects_get(&objects, kind, wild[i], &o));
        objects_end(&objects, wild[i]);
    }
    assert_false(objects_get(&objects, VCUDA_KIND_EVENT, live, &o));
    assert_true(there(live));
    objects_end(&objects, live);
    objects_end(&objects, live);
    assert_false(there(live));
}

/* A new generation must wait until the old one has ended. */
static void test_place_taken(void **state) {
    uint64_t old = vcuda_name(VCUDA_KIND_EVENT, 1, 9), fresh = vcuda_name(VCUDA_KIND_EVENT, 2, 9);
    struct object o = {0};

    (void)state;
    add(old, 0, 0);
    assert_false(objects_may_add(&objects, VCUDA_KIND_EVENT, fresh));
    assert_false(objects_add(&objects, fresh, &o));
    assert_false(objects_may_add(&objects, VCUDA_KIND_STREAM, old));
    assert_true(there(old));
    objects_end(&objects, old);
    add(fresh, 0, 0);
    assert_false(there(old));
}

static void test_whole_table(void **state) {
    uint64_t last = vcuda_name(VCUDA_KIND_FUNCTION, 1, VCUDA_NAME_INDEX_MAX);

    (void)state;
    add(name_of(VCUDA_KIND_FUNCTION, 0), 0, 0);
    add(name_of(VCUDA_KIND_FUNCTION, 63), 0, 0);
    add(name_of(VCUDA_KIND_FUNCTION, 64), 0, 0);
    add(last, 0, 0);
    assert_true(there(name_of(VCUDA_KIND_FUNCTION, 0)));
    assert_true(there(name_of(VCUDA_KIND_FUNCTION, 63)));
    assert_true(there(name_of(VCUDA_KIND_FUNCTION, 64)));
    assert_true(there(last));
}

/* A reset ends what a primary context owns; its own name goes on. */
static void test_end_primary(void **state) {
    uint64_t c = name_of(VCUDA_KIND_CONTEXT, 1), other = name_of(VCUDA_KIND_CONTEXT, 2);
    uint64_t m = name_of(VCUDA_KIND_MODULE, 1), f = name_of(VCUDA_KIND_FUNCTION, 1);
    uint64_t s = name_of(VCUDA_KIND_STREAM, 1);

    (void)state;
    add(c, 0, 1 + 3);
    add(other, 0, 0);
    add(m, c, 0);
    add(f, m, 0);
    add(s, other, 0);
    assert_int_equal(objects_end_primary(&objects, 0), 0);
    assert_true(there(f));
    assert_int_equal(objects_end_primary(&objects, 3), c);
    assert_true(there(other) && there(s));
    assert_false(there(c) || there(m) || there(f));
    add(c, 0, 1 + 3);
}

/* A call may make something while another ends what that belongs to: nothing would ever end it. */
static void test_nothing_without_its_owner(void **state) {
    uint64_t context = name_of(VCUDA_KIND_CONTEXT, 1), module = name_of(VCUDA_KIND_MODULE, 1);
    uint64_t library = name_of(VCUDA_KIND_LIBRARY, 1);
    struct object o = {.native = &o, .owner = context};

    (void)state;
    add(context, 0, 0);
    add(library, 0, 0);
    objects_end(&objects, context);
    assert_false(objects_add(&objects, module, &o));
    assert_int_equal(objects_name(&objects, VCUDA_KIND_ARRAY, &o), 0);
    o.owner = library;
    o.also_owner = context;
    assert_false(objects_add(&objects, module, &o));
    add(context, 0, 0);
    assert_true(objects_add(&objects, module, &o));
}

/* Each of these is one number in all that can be read, which its owners follow. */
#define CHANGES 200000u
#define MANY 100u

/* Such an object's owner: one of two contexts. */
static uint64_t owner_of(uint64_t number) {
    return name_of(VCUDA_KIND_CONTEXT, 1 + (uint32_t)(number % 2));
}

static void add_number(uint64_t name, uint64_t number) {
    struct object o = {(void *)(uintptr_t)number, owner_of(number), number, owner_of(number)};

    assert_true(objects_add(&objects, name, &o));
}

static void *reader(void *over) {
    uint64_t name = name_of(VCUDA_KIND_EVENT, 1), read = 0;
    struct object o;

    while (!vcuda_load_acquire((uint32_t *)over)) {
        if (!objects_get(&objects, VCUDA_KIND_EVENT, name, &o))
            continue;
        read++;
        if ((uintptr_t)o.native != o.aux || o.owner != owner_of(o.aux) || o.owner != o.also_owner)
            return NULL;
    }
    return (void *)(uintptr_t)(read + 1);
}

static void test_read_while_it_changes(void **state) {
    uint64_t name = name_of(VCUDA_KIND_EVENT, 1);
    uint32_t over = 0;
    void *read = NULL;
    pthread_t thread;

    (void)state;
    add(owner_of(0), 0, 0);
    add(owner_of(1), 0, 0);
    assert_int_equal(pthread_create(&thread, NULL, reader, &over), 0);
    for (uint32_t i = 1; i <= CHANGES; i++) {
        add_number(name, i);
        /* The table grows meanwhile. */
        if (i % (CHANGES / MANY) == 0)
            add_number(name_of(VCUDA_KIND_EVENT, i / (CHANGES / MANY) * 1000), i);
        objects_end(&objects, name);
    }
    vcuda_store_release(&over, 1);
    pthread_join(thread, &read);
    assert_non_null(read);
}

/* The first and the last place of each piece of the table, and what lies beyond the last. */
static void test_all_places(void **state) {
    const uint32_t most = (1u << 20) - 1;

    (void)state;
    for (uint32_t end = 64; end <= most + 1; end *= 2) {
        add(name_of(VCUDA_KIND_EVENT, end - 1), 0, end - 1);
        if (end <= most)
            add(name_of(VCUDA_KIND_EVENT, end), 0, end);
    }
    for (uint32_t end = 64; end <= most + 1; end *= 2) {
        struct object o;

        assert_true(
            objects_get(&objects, VCUDA_KIND_EVENT, name_of(VCUDA_KIND_EVENT, end - 1), &o));
        assert_int_equal(o.aux, end - 1);
        assert_false(there(name_of(VCUDA_KIND_EVENT, end - 2)));
        assert_true(end > most || there(name_of(VCUDA_KIND_EVENT, end)));
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

static uint64_t worker_name(enum vcuda_kind kind, uintptr_t native, uint64_t owner) {
    struct object o = {.native = (void *)native, .owner = owner};

    return objects_name(&objects, kind, &o);
}

static void test_names_of_the_worker(void **state) {
    uint64_t a = worker_name(VCUDA_KIND_GRAPH, 0x1000, 0);
    uint64_t b = worker_name(VCUDA_KIND_GRAPH, 0x2000, 0), again;
    struct object o;

    (void)state;
    assert_true(a && b && a != b);
    assert_int_equal(vcuda_name_kind(a), VCUDA_KIND_GRAPH);
    /* The driver's object has one name for as long as it lives. */
    assert_int_equal(worker_name(VCUDA_KIND_GRAPH, 0x1000, 0), a);
    assert_true(objects_get(&objects, VCUDA_KIND_GRAPH, a, &o));
    assert_ptr_equal(o.native, (void *)0x1000);
    assert_int_equal(objects_known(&objects, VCUDA_KIND_GRAPH, (void *)0x1000), a);
    assert_int_equal(objects_known(&objects, VCUDA_KIND_GRAPH, (void *)0x1001), 0);
    assert_int_equal(objects_known(&objects, VCUDA_KIND_NODE, (void *)0x1000), 0);
    objects_end(&objects, a);
    assert_int_equal(objects_known(&objects, VCUDA_KIND_GRAPH, (void *)0x1000), 0);
    assert_false(objects_get(&objects, VCUDA_KIND_GRAPH, a, &o));
    /* The driver hands out the same address again: another object, another name. */
    again = worker_name(VCUDA_KIND_GRAPH, 0x1000, 0);
    assert_true(again && again != a && again != b);
    assert_false(objects_get(&objects, VCUDA_KIND_GRAPH, a, &o));
    assert_true(objects_get(&objects, VCUDA_KIND_GRAPH, again, &o));
    objects_end(&objects, again);
    objects_end(&objects, b);
}

/* As many as names can tell apart, and then none: nobody gets another's place. */
static void test_no_more_names_of_the_worker(void **state) {
    uint64_t last = 0;
    struct object o;

    (void)state;
    for (uint64_t i = 0; i <= VCUDA_NAME_INDEX_MAX; i++) {
        last = worker_name(VCUDA_KIND_GRAPH, 1 + i, 0);
        assert_true(last);
    }
    assert_int_equal(vcuda_name_index(last), VCUDA_NAME_INDEX_MAX);
    assert_int_equal(worker_name(VCUDA_KIND_GRAPH, VCUDA_NAME_INDEX_MAX + 2ul, 0), 0);
    assert_true(objects_get(&objects, VCUDA_KIND_GRAPH, last, &o));
    assert_ptr_equal(o.native, (void *)(VCUDA_NAME_INDEX_MAX + 1ul));
}

static void test_guest_cannot_name_them(void **state) {
    (void)state;
    assert_false(objects_may_add(&objects, VCUDA_KIND_GRAPH, name_of(VCUDA_KIND_GRAPH, 77)));
    assert_false(objects_may_add(&objects, VCUDA_KIND_ARRAY, name_of(VCUDA_KIND_ARRAY, 1)));
}

static void test_a_graph_takes_its_nodes(void **state) {
    uint64_t graph = worker_name(VCUDA_KIND_GRAPH, 0x3000, 0);
    uint64_t nodes[100];
    struct object o;

    (void)state;
    for (uintptr_t i = 0; i < 100; i++)
        nodes[i] = worker_name(VCUDA_KIND_NODE, 0x10000 + 16 * i, graph);
    objects_end(&objects, graph);
    for (int i = 0; i < 100; i++) {
        assert_false(objects_get(&objects, VCUDA_KIND_NODE, nodes[i], &o));
        assert_true(worker_name(VCUDA_KIND_NODE, 0x10000 + 16 * (uintptr_t)i, 0) != nodes[i]);
    }
    for (uintptr_t i = 0; i < 100; i++)
        objects_end(&objects, worker_name(VCUDA_KIND_NODE, 0x10000 + 16 * i, 0));
}

/* The copy of a graph inside a node ends with the node, and so does a graph that was moved there.
 */
static void test_graphs_within_graphs(void **state) {
    uint64_t outer = worker_name(VCUDA_KIND_GRAPH, 0x4000, 0);
    uint64_t node = worker_name(VCUDA_KIND_NODE, 0x4100, outer);
    uint64_t copy = worker_name(VCUDA_KIND_GRAPH, 0x4200, node);
    uint64_t inside = worker_name(VCUDA_KIND_NODE, 0x4300, copy);
    uint64_t moved = worker_name(VCUDA_KIND_GRAPH, 0x4400, 0);
    struct object o;

    (void)state;
    objects_give(&objects, moved, node);
    assert_true(objects_get(&objects, VCUDA_KIND_GRAPH, moved, &o));
    assert_int_equal(o.owner, node);
    objects_end(&objects, node);
    assert_false(objects_get(&objects, VCUDA_KIND_GRAPH, copy, &o));
    assert_false(objects_get(&objects, VCUDA_KIND_NODE, inside, &o));
    assert_false(objects_get(&objects, VCUDA_KIND_GRAPH, moved, &o));
    assert_true(objects_get(&objects, VCUDA_KIND_GRAPH, outer, &o));
    objects_end_native(&objects, VCUDA_KIND_GRAPH, (void *)0x4001);
    assert_true(objects_get(&objects, VCUDA_KIND_GRAPH, outer, &o));
    objects_end_native(&objects, VCUDA_KIND_GRAPH, (void *)0x4000);
    assert_false(objects_get(&objects, VCUDA_KIND_GRAPH, outer, &o));
}

static void test_found_by_the_driver_s_handle(void **state) {
    uint64_t a = name_of(VCUDA_KIND_EVENT, 1), b = name_of(VCUDA_KIND_EVENT, 2);

    (void)state;
    add(a, 0, 0);
    add(b, 0, 0);
    assert_int_equal(objects_find(&objects, VCUDA_KIND_EVENT, (void *)(uintptr_t)(b ^ 0x5555)), b);
    assert_int_equal(objects_find(&objects, VCUDA_KIND_EVENT, (void *)0x77), 0);
    objects_end(&objects, b);
    assert_int_equal(objects_find(&objects, VCUDA_KIND_EVENT, (void *)(uintptr_t)(b ^ 0x5555)), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_end_takes_what_it_owns),
        TEST(test_stale_and_wild_names),
        TEST(test_place_taken),
        TEST(test_whole_table),
        TEST(test_end_primary),
        TEST(test_names_of_the_worker),
        TEST(test_no_more_names_of_the_worker),
        TEST(test_guest_cannot_name_them),
        TEST(test_a_graph_takes_its_nodes),
        TEST(test_graphs_within_graphs),
        TEST(test_found_by_the_driver_s_handle),
        TEST(test_nothing_without_its_owner),
        TEST(test_read_while_it_changes),
        TEST(test_all_places),
    };

    return cmocka_run_group_tests_name("objects", tests, NULL, NULL);
}
