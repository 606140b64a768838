// SPDX-License-Identifier: Apache-2.0
/* Descriptors that stand for device memory: what can be done with them, and when they have ended.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cuda_types.h"
#include "descriptor.h"
#include "wire.h"

static int ended;
static struct descriptor_token last_ended;

CUresult wire_share_end(struct thread *t, const void *token, uint32_t token_len) {
    (void)t;
    assert_int_equal(token_len, sizeof(last_ended));
    memcpy(&last_ended, token, sizeof(last_ended));
    ended++;
    return CUDA_SUCCESS;
}

static struct descriptor_token token_of(uint8_t byte) {
    struct descriptor_token token;

    memset(&token, byte, sizeof(token));
    return token;
}

static int make(uint8_t byte) {
    const struct descriptor_token token = token_of(byte);
    int fd = descriptor_make(DESCRIPTOR_MEMORY, &token);

    assert_true(fd >= 0);
    return fd;
}

static bool reads(int fd, uint8_t byte) {
    const struct descriptor_token wanted = token_of(byte);
    struct descriptor_token token;

    return descriptor_read(fd, &token) == DESCRIPTOR_MEMORY &&
           !memcmp(&token, &wanted, sizeof(token));
}

static void test_read_as_often_as_wanted(void **state) {
    const struct descriptor_token other = token_of(2);
    struct descriptor_token token;
    int fd = make(1), copy = dup(fd), pool = descriptor_make(DESCRIPTOR_POOL, &other), status;

    (void)state;
    assert_true(reads(fd, 1));
    assert_true(reads(fd, 1));
    assert_true(reads(copy, 1));
    assert_int_equal(descriptor_read(pool, &token), DESCRIPTOR_POOL);
    if (!fork())
        _exit(!reads(copy, 1));
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
    close(fd);
    assert_true(reads(copy, 1));
    assert_false(descriptor_sweep(NULL));
    close(copy);
    assert_true(descriptor_sweep(NULL));
    assert_false(descriptor_sweep(NULL));
    assert_int_equal(ended, 1);
    assert_int_equal(last_ended.bytes[0], 1);
    close(pool);
    assert_true(descriptor_sweep(NULL));
    assert_int_equal(last_ended.bytes[0], 2);
}

static void test_others_are_none(void **state) {
    struct descriptor_token token;
    int pair[2], null = open("/dev/null", O_RDWR);
    char longer[256] = "vcuda share1";

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    assert_int_equal(descriptor_read(-1, &token), DESCRIPTOR_NONE);
    assert_int_equal(descriptor_read(null, &token), DESCRIPTOR_NONE);
    assert_int_equal(descriptor_read(pair[0], &token), DESCRIPTOR_NONE); /* does not wait */
    assert_int_equal(send(pair[1], longer, sizeof(longer), 0), sizeof(longer));
    assert_int_equal(descriptor_read(pair[0], &token), DESCRIPTOR_NONE);
    assert_int_equal(recv(pair[0], longer, sizeof(longer), 0), sizeof(longer)); /* left as it was */
    assert_int_equal(send(pair[1], longer, 12, 0), 12);
    assert_int_equal(descriptor_read(pair[0], &token), DESCRIPTOR_NONE);
    close(null);
    close(pair[0]);
    close(pair[1]);
}

/* The end of any of many is seen, and of no other. */
static void test_many(void **state) {
    int fds[200], before = open("/dev/null", O_RDONLY), after;

    (void)state;
    close(before);
    ended = 0;
    for (int i = 0; i < 200; i++)
        fds[i] = make((uint8_t)i);
    assert_false(descriptor_sweep(NULL));
    close(fds[77]);
    assert_true(descriptor_sweep(NULL));
    assert_int_equal(ended, 1);
    assert_int_equal(last_ended.bytes[0], 77);
    assert_true(reads(fds[78], 78));
    for (int i = 0; i < 200; i++)
        if (i != 77)
            close(fds[i]);
    assert_true(descriptor_sweep(NULL));
    assert_int_equal(ended, 200);
    after = open("/dev/null", O_RDONLY); /* nothing is left open */
    assert_int_equal(after, before);
    close(after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_as_often_as_wanted),
        cmocka_unit_test(test_others_are_none),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests_name("descriptors", tests, NULL, NULL);
}
