// SPDX-License-Identifier: Apache-2.0
/* A completion as a worker may write it, sense and nonsense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "completion.h"

#define CALL 42

/* A record of its exact length, so that the sanitizer sees a byte too many. */
static struct vcuda_rec *record(uint32_t slots, const uint64_t *values, uint32_t blob_room,
                                uint32_t *len) {
    struct vcuda_rec *r;

    *len = (uint32_t)sizeof(*r) + 8 * slots + blob_room;
    r = calloc(1, *len);
    assert_non_null(r);
    r->len = *len;
    r->call = CALL;
    r->flags = (uint16_t)slots;
    for (uint32_t i = 0; i < slots; i++)
        memcpy((uint8_t *)(r + 1) + 8 * i, &values[i], 8);
    memset((uint8_t *)(r + 1) + 8 * slots, 'b', blob_room);
    return r;
}

static bool parse(struct rpc *rpc, uint32_t slots, const uint64_t *values, uint32_t blob_room,
                  CUresult status) {
    uint32_t len;
    struct vcuda_rec *r = record(slots, values, blob_room, &len);
    bool ok;

    r->status = (uint32_t)status;
    rpc->head.call = CALL;
    ok = completion_parse(r, len, rpc);
    free(r);
    return ok;
}

static void test_slots(void **state) {
    const uint64_t values[] = {1, UINT64_MAX, 3};
    struct rpc rpc = {0};

    (void)state;
    assert_true(parse(&rpc, 3, values, 0, CUDA_SUCCESS));
    assert_int_equal(rpc.out_count, 3);
    assert_memory_equal(rpc.outs, values, sizeof(values));
    assert_int_equal(rpc.status, CUDA_SUCCESS);
}

static void test_no_slots(void **state) {
    struct rpc rpc = {0};

    (void)state;
    assert_true(parse(&rpc, 0, NULL, 0, CUDA_ERROR_NOT_READY));
    assert_int_equal(rpc.out_count, 0);
    assert_int_equal(rpc.status, CUDA_ERROR_NOT_READY);
}

static void test_blob(void **state) {
    const uint64_t values[] = {5, 11};
    char want[17] = {0};
    struct rpc rpc = {.want = want, .want_cap = 16};

    (void)state;
    assert_true(parse(&rpc, 2, values, 16, CUDA_SUCCESS));
    assert_int_equal(rpc.want_len, 11);
    assert_string_equal(want, "bbbbbbbbbbb");
}

static void test_wrong_call(void **state) {
    uint32_t len;
    struct vcuda_rec *r = record(0, NULL, 0, &len);
    struct rpc rpc = {.head.call = CALL + 1};

    (void)state;
    assert_false(completion_parse(r, len, &rpc));
    free(r);
}

static void test_slots_beyond_the_record(void **state) {
    const uint64_t values[] = {1};
    uint32_t len;
    struct vcuda_rec *r = record(1, values, 0, &len);
    struct rpc rpc = {.head.call = CALL};

    (void)state;
    for (uint32_t slots = 2; slots <= 0xffff; slots = 3 * slots + 1) {
        r->flags = (uint16_t)slots;
        assert_false(completion_parse(r, len, &rpc));
    }
    r->flags = 0xffff;
    assert_false(completion_parse(r, len, &rpc));
    free(r);
}

static void test_more_slots_than_there_can_be(void **state) {
    const uint64_t values[RPC_OUTS_MAX + 1] = {0};
    struct rpc rpc = {0};

    (void)state;
    assert_true(parse(&rpc, RPC_OUTS_MAX, values, 0, CUDA_SUCCESS));
    assert_false(parse(&rpc, RPC_OUTS_MAX + 1, values, 0, CUDA_SUCCESS));
}

static void test_blob_beyond_the_record(void **state) {
    const uint64_t lengths[] = {9, 16, 1ull << 31, 1ull << 32, UINT64_MAX};
    char want[64];

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct rpc rpc = {.want = want, .want_cap = sizeof(want)};

        assert_false(parse(&rpc, 1, &lengths[i], 8, CUDA_SUCCESS));
    }
}

static void test_blob_longer_than_wanted(void **state) {
    const uint64_t length = 9;
    char *want = malloc(8);
    struct rpc rpc = {.want = want, .want_cap = 8};

    (void)state;
    assert_false(parse(&rpc, 1, &length, 16, CUDA_SUCCESS));
    free(want);
}

/* The last slot is no length when the call failed. */
static void test_blob_of_a_failed_call(void **state) {
    const uint64_t length = UINT64_MAX;
    char want[8];
    struct rpc rpc = {.want = want, .want_cap = sizeof(want)};

    (void)state;
    assert_true(parse(&rpc, 1, &length, 0, CUDA_ERROR_INVALID_VALUE));
    assert_int_equal(rpc.want_len, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_no_slots),
        cmocka_unit_test(test_blob),
        cmocka_unit_test(test_wrong_call),
        cmocka_unit_test(test_slots_beyond_the_record),
        cmocka_unit_test(test_more_slots_than_there_can_be),
        cmocka_unit_test(test_blob_beyond_the_record),
        cmocka_unit_test(test_blob_longer_than_wanted),
        cmocka_unit_test(test_blob_of_a_failed_call),
    };

    return cmocka_run_group_tests_name("completion", tests, NULL, NULL);
}
