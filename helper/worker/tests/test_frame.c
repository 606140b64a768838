// SPDX-License-Identifier: Apache-2.0
/* A record taken apart: nothing is read beyond it, whatever its lengths say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"
#include "objects_free.h"
#include "worker.h"

#define HEAD ((uint32_t)sizeof(struct vcuda_rec))

/* A record of its exact length, so that the sanitizer sees a byte too many. */
static void *record;

static struct frame frame_of(uint32_t slots, const void *blobs, uint32_t blob_bytes) {
    struct frame f;

    free(record);
    record = calloc(1, HEAD + 8 * slots + blob_bytes);
    assert_non_null(record);
    if (blob_bytes)
        memcpy((uint8_t *)record + HEAD + 8 * slots, blobs, blob_bytes);
    assert_true(frame_open(&f, record, HEAD + 8 * slots + blob_bytes, slots));
    return f;
}

static int teardown(void **state) {
    (void)state;
    free(record);
    record = NULL;
    return 0;
}

static void test_too_short_for_its_slots(void **state) {
    struct frame f;

    (void)state;
    record = calloc(1, HEAD + 16);
    assert_true(frame_open(&f, record, HEAD + 16, 2));
    assert_false(frame_open(&f, record, HEAD + 16, 3));
    assert_false(frame_open(&f, record, HEAD + 8, 2));
    assert_true(frame_open(&f, record, HEAD, 0));
    assert_false(frame_open(&f, record, HEAD - 8, 0));
    assert_false(frame_open(&f, record, 8, 24));
}

static void test_blobs_in_order(void **state) {
    struct frame f = frame_of(2, "first\0\0\0second blob\0\0\0\0", 24);

    (void)state;
    assert_memory_equal(frame_blob(&f, 5), "first", 5);
    assert_memory_equal(frame_blob(&f, 11), "second blob", 11);
    assert_null(frame_blob(&f, 1));
    /* None is left, and none is asked for: a place, and no byte of it is read. */
    assert_non_null(frame_blob(&f, 0));
}

static void test_blob_that_reaches_out(void **state) {
    const uint64_t lengths[] = {
        17, 24, 1ull << 31, UINT32_MAX, 1ull << 32, (1ull << 32) + 8, UINT64_MAX - 7, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct frame f = frame_of(1, "0123456789abcdef", 16);

        assert_null(frame_blob(&f, lengths[i]));
        /* What was refused took nothing. */
        assert_memory_equal(frame_blob(&f, 16), "0123456789abcdef", 16);
        teardown(NULL);
    }
}

static void test_strings(void **state) {
    struct frame f;

    (void)state;
    f = frame_of(1, "name\0\0\0", 8);
    assert_string_equal(frame_string(&f, 5), "name");
    teardown(NULL);
    f = frame_of(1, "noend678", 8);
    assert_null(frame_string(&f, 8));
    teardown(NULL);
    f = frame_of(1, "a\0b\0\0\0\0", 8); /* a NUL within: what was checked is not what is used */
    assert_null(frame_string(&f, 4));
    teardown(NULL);
    f = frame_of(1, "\0\0\0\0\0\0\0", 8);
    assert_null(frame_string(&f, 0));
    assert_null(frame_string(&f, 9));
    assert_string_equal(frame_string(&f, 1), "");
}

static void test_reply_room(void **state) {
    struct frame f = frame_of(0, NULL, 0);
    uint32_t cap = 0;

    (void)state;
    assert_null(frame_reserve(&f, 1, VCUDA_REC_MAX, &cap));
    assert_null(frame_reserve(&f, 1, UINT64_MAX, &cap));
    assert_null(frame_reserve(&f, 1, UINT32_MAX + 1ull, &cap));
    assert_null(
        frame_reserve(&f, FRAME_OUTS_MAX, VCUDA_REC_MAX - HEAD - 8 * FRAME_OUTS_MAX - 7, &cap));
    assert_non_null(
        frame_reserve(&f, FRAME_OUTS_MAX, VCUDA_REC_MAX - HEAD - 8 * FRAME_OUTS_MAX - 8, &cap));
    assert_int_equal(cap, VCUDA_REC_MAX - HEAD - 8 * FRAME_OUTS_MAX - 8);
    /* One a call. */
    assert_null(frame_reserve(&f, 1, 8, &cap));
    frame_close(&f);
    assert_null(f.reply);
}

static void test_outs(void **state) {
    struct frame f = frame_of(0, NULL, 0);

    (void)state;
    frame_out(&f, 2, 22);
    frame_out(&f, 0, 20);
    assert_int_equal(f.out_count, 3);
    assert_int_equal(f.outs[2], 22);
    assert_int_equal(f.outs[1], 0);
    assert_int_equal(f.outs[0], 20);
}

static void test_objects_of_a_frame(void **state) {
    struct worker *w = calloc(1, sizeof(*w));
    uint64_t context = vcuda_name(VCUDA_KIND_CONTEXT, 1, 1);
    uint64_t stream = vcuda_name(VCUDA_KIND_STREAM, 1, 1);
    struct frame f = frame_of(0, NULL, 0);
    void *got = &f;

    (void)state;
    objects_init(&w->objects);
    assert_int_equal(frame_stream(w, 0, &got), CUDA_SUCCESS);
    assert_null(got);
    assert_int_equal(frame_stream(w, stream, &got), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(frame_object(w, VCUDA_KIND_CONTEXT, context, &got),
                     CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(frame_new(w, &f, VCUDA_KIND_STREAM, context), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(frame_new(w, &f, VCUDA_KIND_STREAM, stream), CUDA_SUCCESS);
    /* What the caller's context owns ends with it. */
    assert_int_equal(frame_bind(w, &f, context, w), CUDA_SUCCESS);
    f.head.ctx = context;
    assert_int_equal(frame_bind(w, &f, stream, &f), CUDA_SUCCESS);
    assert_int_equal(frame_bind(w, &f, stream, &f), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(frame_stream(w, stream, &got), CUDA_SUCCESS);
    assert_ptr_equal(got, &f);
    frame_unbind(w, context);
    assert_int_equal(frame_stream(w, stream, &got), CUDA_ERROR_INVALID_HANDLE);
    objects_free(&w->objects);
    free(w);
}

static void test_structures(void **state) {
    static const uint64_t body[4] = {1, 2, 3, 4};
    struct frame f = frame_of(0, body, sizeof(body));
    const void *got;

    (void)state;
    assert_int_equal(frame_struct(&f, 8, 16, true, &got), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(frame_struct(&f, 0, 16, true, &got), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(frame_struct(&f, 0, 16, false, &got), CUDA_SUCCESS);
    assert_null(got);
    assert_int_equal(frame_struct(&f, 16, 16, true, &got), CUDA_SUCCESS);
    assert_memory_equal(got, body, 16);
    /* What is left of the record is shorter. */
    assert_int_equal(frame_struct(&f, 24, 24, true, &got), CUDA_ERROR_INVALID_VALUE);
    assert_null(frame_result(&f, 1, 8, 16));
    assert_non_null(frame_result(&f, 1, 16, 16));
    frame_close(&f);
}

static void test_lists_of_objects(void **state) {
    struct worker *w = calloc(1, sizeof(*w));
    uint64_t names[3] = {0};
    struct frame f = frame_of(0, NULL, 0);
    void **list;
    size_t count;

    (void)state;
    objects_init(&w->objects);
    for (uintptr_t i = 0; i < 3; i++) {
        assert_int_equal(frame_name(w, &f, 0, VCUDA_KIND_NODE, (void *)(i + 1)), CUDA_SUCCESS);
        names[i] = f.outs[0];
    }
    assert_int_equal(frame_name(w, &f, 0, VCUDA_KIND_NODE, NULL), CUDA_SUCCESS);
    assert_int_equal(f.outs[0], 0);
    f = frame_of(0, names, sizeof(names));
    assert_int_equal(frame_objects(w, &f, VCUDA_KIND_NODE, 24, &list, &count), CUDA_SUCCESS);
    assert_int_equal(count, 3);
    assert_ptr_equal(list[2], (void *)3);
    frame_close(&f);
    f = frame_of(0, names, sizeof(names));
    assert_int_equal(frame_objects(w, &f, VCUDA_KIND_NODE, 20, &list, &count),
                     CUDA_ERROR_INVALID_VALUE);
    f = frame_of(0, names, sizeof(names));
    assert_int_equal(frame_objects(w, &f, VCUDA_KIND_NODE, 32, &list, &count),
                     CUDA_ERROR_INVALID_VALUE);
    f = frame_of(0, names, sizeof(names));
    assert_int_equal(frame_objects(w, &f, VCUDA_KIND_GRAPH, 24, &list, &count),
                     CUDA_ERROR_INVALID_VALUE);
    frame_close(&f);
    for (int i = 0; i < 3; i++)
        objects_end(&w->objects, names[i]);
    objects_free(&w->objects);
    free(w);
}

/* Arrays go with the caller's context, and with whatever else they are said to belong to. */
static void test_owners(void **state) {
    struct worker *w = calloc(1, sizeof(*w));
    uint64_t array, level, graph, context = vcuda_name(VCUDA_KIND_CONTEXT, 1, 1);
    struct object c = {.native = w}, o;
    struct frame f = frame_of(0, NULL, 0);

    (void)state;
    objects_init(&w->objects);
    assert_true(objects_add(&w->objects, context, &c));
    f.head.ctx = context;
    assert_int_equal(frame_name(w, &f, 0, VCUDA_KIND_ARRAY, (void *)1), CUDA_SUCCESS);
    array = f.outs[0];
    assert_int_equal(frame_name(w, &f, 0, VCUDA_KIND_GRAPH, (void *)2), CUDA_SUCCESS);
    graph = f.outs[0];
    f.owner = array;
    assert_int_equal(frame_name(w, &f, 0, VCUDA_KIND_ARRAY, (void *)3), CUDA_SUCCESS);
    level = f.outs[0];
    assert_true(objects_get(&w->objects, VCUDA_KIND_ARRAY, level, &o));
    objects_end(&w->objects, array);
    assert_false(objects_get(&w->objects, VCUDA_KIND_ARRAY, level, &o));
    f.owner = 0;
    assert_int_equal(frame_name(w, &f, 0, VCUDA_KIND_ARRAY, (void *)1), CUDA_SUCCESS);
    array = f.outs[0];
    objects_end(&w->objects, context);
    assert_false(objects_get(&w->objects, VCUDA_KIND_ARRAY, array, &o));
    assert_true(objects_get(&w->objects, VCUDA_KIND_GRAPH, graph, &o));
    objects_end(&w->objects, graph);
    objects_free(&w->objects);
    free(w);
}

#define TEST(function) cmocka_unit_test_teardown(function, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_too_short_for_its_slots),
        TEST(test_blobs_in_order),
        TEST(test_blob_that_reaches_out),
        TEST(test_strings),
        TEST(test_reply_room),
        TEST(test_outs),
        TEST(test_objects_of_a_frame),
        TEST(test_structures),
        TEST(test_lists_of_objects),
        TEST(test_owners),
    };

    return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
