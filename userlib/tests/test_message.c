// SPDX-License-Identifier: Apache-2.0
/* A message as a worker may write it, sense and nonsense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "message.h"

/* Parses a record of its exact length, so that the sanitizer sees a byte too many. */
static bool parse(uint16_t call, uint32_t count, const uint64_t *slots, const char *bytes,
                  uint32_t room, struct message *m, char *text) {
    uint32_t len = (uint32_t)sizeof(struct vcuda_rec) + 8 * count + room;
    struct vcuda_rec *r = calloc(1, len);
    bool ok;

    assert_non_null(r);
    r->len = len;
    r->call = call;
    r->flags = (uint16_t)count;
    for (uint32_t i = 0; i < count; i++)
        memcpy((uint8_t *)(r + 1) + 8 * i, &slots[i], 8);
    if (room)
        memcpy((uint8_t *)(r + 1) + 8 * count, bytes, room);
    ok = message_parse(r, len, m);
    if (ok && m->what == VCUDA_MESSAGE_PRINT)
        memcpy(text, m->print.text, m->print.len);
    free(r);
    return ok;
}

static bool host(uint64_t place, uint64_t serial, uint64_t status, uint64_t last,
                 struct message *m) {
    const uint64_t slots[] = {0x100000001, place, serial, status, last};

    return parse(VCUDA_MESSAGE_HOST, 5, slots, NULL, 0, m, NULL);
}

static void test_host(void **state) {
    struct message m;

    (void)state;
    assert_true(host(3, 77, 700, 1, &m));
    assert_int_equal(m.what, VCUDA_MESSAGE_HOST);
    assert_int_equal(m.host.id, 0x100000001);
    assert_int_equal(m.host.place, 3);
    assert_int_equal(m.host.serial, 77);
    assert_int_equal(m.host.status, 700);
    assert_true(m.host.last);
    assert_true(host(VCUDA_HOST_PLACES, 0, 0, 0, &m));
    assert_false(m.host.last);
}

static void test_host_out_of_bounds(void **state) {
    struct message m;

    (void)state;
    assert_false(host(VCUDA_HOST_PLACES + 1, 0, 0, 0, &m));
    assert_false(host(UINT64_MAX, 0, 0, 0, &m));
    assert_false(host(1ull << 32, 0, 0, 0, &m));
    assert_false(host(0, 1ull << 32, 0, 0, &m));
    assert_false(host(0, 0, 1ull << 31, 0, &m));
    assert_false(host(0, 0, 0, 2, &m));
}

static void test_print(void **state) {
    const uint64_t out[] = {1, 5}, err[] = {2, 8}, none[] = {1, 0};
    char text[8];
    struct message m;

    (void)state;
    assert_true(parse(VCUDA_MESSAGE_PRINT, 2, out, "hello...", 8, &m, text));
    assert_int_equal(m.print.fd, 1);
    assert_int_equal(m.print.len, 5);
    assert_memory_equal(text, "hello", 5);
    assert_true(parse(VCUDA_MESSAGE_PRINT, 2, err, "12345678", 8, &m, text));
    assert_int_equal(m.print.fd, 2);
    assert_true(parse(VCUDA_MESSAGE_PRINT, 2, none, NULL, 0, &m, text));
    assert_int_equal(m.print.len, 0);
}

static void test_print_out_of_bounds(void **state) {
    const uint64_t slots[][2] = {{0, 1},  {3, 1},          {UINT64_MAX, 1}, {1, 9},
                                 {1, 16}, {1, 1ull << 32}, {1, UINT64_MAX}};
    char text[8];
    struct message m;

    (void)state;
    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
        assert_false(parse(VCUDA_MESSAGE_PRINT, 2, slots[i], "12345678", 8, &m, text));
}

static void test_async(void **state) {
    const uint64_t good[] = {9, CU_ASYNC_NOTIFICATION_TYPE_OVER_BUDGET, 1ull << 40};
    const uint64_t bad[] = {9, 7, 0};
    struct message m;

    (void)state;
    assert_true(parse(VCUDA_MESSAGE_ASYNC, 3, good, NULL, 0, &m, NULL));
    assert_int_equal(m.async.id, 9);
    assert_int_equal(m.async.info.info.overBudget.bytesOverBudget, 1ull << 40);
    assert_false(parse(VCUDA_MESSAGE_ASYNC, 3, bad, NULL, 0, &m, NULL));
}

static void test_unknown(void **state) {
    const uint64_t slots[8] = {1, 1, 1, 1, 1};
    struct message m;

    (void)state;
    assert_false(parse(0, 0, NULL, NULL, 0, &m, NULL));
    assert_false(parse(VCUDA_MESSAGE_MAX, 5, slots, NULL, 0, &m, NULL));
    assert_false(parse(UINT16_MAX, 5, slots, NULL, 0, &m, NULL));
}

static void test_wrong_number_of_slots(void **state) {
    const uint64_t slots[8] = {1, 1, 1, 1, 1};
    char text[8];
    struct message m;

    (void)state;
    for (uint32_t n = 0; n < 8; n++) {
        assert_int_equal(parse(VCUDA_MESSAGE_HOST, n, slots, NULL, 0, &m, NULL), n == 5);
        assert_int_equal(parse(VCUDA_MESSAGE_PRINT, n, slots, "x.......", 8, &m, text), n == 2);
        assert_int_equal(parse(VCUDA_MESSAGE_ASYNC, n, slots, NULL, 0, &m, NULL), n == 3);
    }
}

/* The header says more slots than the record holds. */
static void test_slots_beyond_the_record(void **state) {
    struct vcuda_rec *r = calloc(1, sizeof(*r) + 8);
    struct message m;

    (void)state;
    assert_non_null(r);
    r->len = (uint32_t)sizeof(*r) + 8;
    for (uint16_t call = 1; call < VCUDA_MESSAGE_MAX; call++) {
        r->call = call;
        for (uint16_t n = 2; n < 8; n++) {
            r->flags = n;
            assert_false(message_parse(r, r->len, &m));
        }
    }
    free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_host_out_of_bounds),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_print_out_of_bounds),
        cmocka_unit_test(test_async),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_wrong_number_of_slots),
        cmocka_unit_test(test_slots_beyond_the_record),
    };

    return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
