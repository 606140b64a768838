// SPDX-License-Identifier: Apache-2.0
/* Files of compiled code: whose code comes out, and what another worker may have written. */
#include "kept.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const char text[] = ".version 7.0\n.target sm_50\n", code[] = "machine code, of any length";
static const struct kept_text of = {13000, 90, text, sizeof(text)};

/* A file of these bytes. */
static int file_of(const void *bytes, size_t count) {
    int fd = memfd_create("test", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, count), count);
    return fd;
}

static bool reads(int fd, const struct kept_text *wanted) {
    char *got;
    size_t bytes;
    bool taken = kept_read(fd, wanted, &got, &bytes);

    if (taken) {
        assert_int_equal(bytes, sizeof(code));
        assert_memory_equal(got, code, bytes);
        free(got);
    }
    return taken;
}

static void test_same_text(void **state) {
    int fd = kept_write(&of, code, sizeof(code));

    (void)state;
    assert_true(fd >= 0);
    assert_true(reads(fd, &of));
    assert_int_equal(fcntl(fd, F_GET_SEALS),
                     F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    close(fd);
}

static void test_anything_else_differs(void **state) {
    const char later[] = ".version 7.1\n.target sm_50\n";
    const struct kept_text others[] = {
        {12040, 90, text, sizeof(text)},
        {13000, 100, text, sizeof(text)},
        {13000, 90, later, sizeof(later)},
        {13000, 90, text, sizeof(text) - 1},
    };
    int fd = kept_write(&of, code, sizeof(code));

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_int_not_equal(kept_key(&others[i]), kept_key(&of));
        assert_false(reads(fd, &others[i]));
    }
    close(fd);
}

/* Each part of a file, and the file with each byte of its head changed. */
static void test_damaged(void **state) {
    uint8_t whole[512];
    int fd = kept_write(&of, code, sizeof(code));
    ssize_t bytes = pread(fd, whole, sizeof(whole), 0);
    size_t head = (size_t)bytes - sizeof(text) - sizeof(code);

    (void)state;
    close(fd);
    for (ssize_t part = 0; part < bytes; part++) {
        fd = file_of(whole, (size_t)part);
        assert_false(reads(fd, &of));
        close(fd);
    }
    for (size_t at = 0; at < head + sizeof(text); at++) {
        whole[at] ^= 0x80;
        fd = file_of(whole, (size_t)bytes);
        assert_false(reads(fd, &of));
        close(fd);
        whole[at] ^= 0x80;
    }
    fd = file_of(whole, (size_t)bytes);
    assert_true(reads(fd, &of));
    close(fd);
}

static void test_no_file(void **state) {
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)state;
    assert_false(reads(fd, &of));
    close(fd);
    assert_false(reads(-1, &of));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_text),
        cmocka_unit_test(test_anything_else_differs),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_no_file),
    };

    return cmocka_run_group_tests_name("files of compiled code", tests, NULL, NULL);
}
