// SPDX-License-Identifier: Apache-2.0
/*
 * The words between vcudad and its workers, byte by byte: both sides, and what
 * neither may believe.
 */
#include "sandbox.h"
#include "supervise.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int sock;   /* vcudad's end */
static int worker; /* the worker's end */

static int setup(void **state) {
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    sock = pair[0];
    worker = pair[1];
    return 0;
}

static int teardown(void **state) {
    (void)state;
    close(sock);
    close(worker);
    return 0;
}

static int receive_after(const void *message, size_t bytes) {
    union vcuda_supervise_report report;

    assert_int_equal(send(worker, message, bytes, 0), bytes);
    return vcuda_supervise_receive(sock, &report);
}

static void test_ready(void **state) {
    struct vcuda_supervise_ready ready = {
        .op = VCUDA_SUPERVISE_READY, .version = VCUDA_SUPERVISE_VERSION, .devices = 1};
    union vcuda_supervise_report report;

    (void)state;
    assert_int_equal(vcuda_supervise_receive(sock, &report), -EAGAIN);
    assert_int_equal(receive_after(&ready, sizeof(ready)), 0);
    assert_int_equal(receive_after(&ready, sizeof(ready) - 1), -EPROTO);
    assert_int_equal(receive_after(&ready, 1), -EPROTO);
    ready.devices = 0;
    assert_int_equal(receive_after(&ready, sizeof(ready)), -EPROTO);
    ready.devices = 1;
    ready.version++;
    assert_int_equal(receive_after(&ready, sizeof(ready)), -EPROTO);
    close(worker);
    worker = -1;
    assert_int_equal(vcuda_supervise_receive(sock, &report), -EPIPE);
}

static void test_failed_text_ends(void **state) {
    struct vcuda_supervise_failed failed = {.op = VCUDA_SUPERVISE_FAILED,
                                            .version = VCUDA_SUPERVISE_VERSION};
    union vcuda_supervise_report report;
    char longer[sizeof(failed) + 8] = {0};

    (void)state;
    memset(failed.text, 'x', sizeof(failed.text));
    assert_int_equal(send(worker, &failed, sizeof(failed), 0), sizeof(failed));
    assert_int_equal(vcuda_supervise_receive(sock, &report), 0);
    assert_int_equal(strlen(report.failed.text), sizeof(failed.text) - 1);
    memcpy(longer, &failed, sizeof(failed));
    assert_int_equal(receive_after(longer, sizeof(longer)), -EPROTO);
}

/* The worker's half wants descriptor 3: done in a child. Its exit status is -result. */
static int wait_in_child(int *descriptor_is_there) {
    int status;
    pid_t child = fork();

    if (!child) {
        struct vcuda_supervise_session session;
        struct vcuda_owner *owner;
        int fd = -1;

        close(sock); /* or the end of the file would never come */
        dup2(worker, VCUDA_SUPERVISE_FD);
        int error = vcuda_supervise_wait(&session, &fd, &owner);
        char byte = 'x';

        /* The descriptor is the pipe's end: proves that it is the right one. */
        if (!error && (write(fd, &byte, 1) != 1 || session.gpus[0] != 7))
            _exit(255);
        if (!error)
            owner->account.share[session.place].held = 11;
        _exit(-error);
    }
    close(sock);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    *descriptor_is_there = status == 0;
    return -WEXITSTATUS(status);
}

/* A memory file for an owner. */
static int owner_file(void) {
    int fd = memfd_create("owner", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, sizeof(struct vcuda_owner)), 0);
    return fd;
}

static void test_session_with_descriptors(void **state) {
    struct vcuda_supervise_session session = {
        .op = VCUDA_SUPERVISE_SESSION, .gpu_count = 1, .gpus = {7}, .place = 5};
    int pipe_ends[2], memory = owner_file();
    uint64_t held = 0;
    int there;
    char byte = 0;

    (void)state;
    assert_int_equal(pipe(pipe_ends), 0);
    assert_int_equal(vcuda_supervise_give(sock, &session, pipe_ends[1], memory), 0);
    assert_int_equal(wait_in_child(&there), 0);
    assert_true(there);
    assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
    assert_int_equal(byte, 'x');
    assert_int_equal(
        pread(memory, &held, sizeof(held), offsetof(struct vcuda_owner, account.share[5].held)),
        sizeof(held));
    assert_int_equal(held, 11);
    close(memory);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static void test_session_refused(void **state) {
    struct vcuda_supervise_session session = {.op = VCUDA_SUPERVISE_SESSION,
                                              .gpu_count = VCUDA_SUPERVISE_GPUS_MAX + 1};
    int there, memory = owner_file();

    (void)state;
    assert_int_equal(vcuda_supervise_give(sock, &session, STDIN_FILENO, memory), 0);
    assert_int_equal(wait_in_child(&there), -EPROTO);
    close(memory);
}

static void test_place_refused(void **state) {
    struct vcuda_supervise_session session = {
        .op = VCUDA_SUPERVISE_SESSION, .gpu_count = 1, .place = VCUDA_ACCOUNT_SHARES};
    int there, memory = owner_file();

    (void)state;
    assert_int_equal(vcuda_supervise_give(sock, &session, STDIN_FILENO, memory), 0);
    assert_int_equal(wait_in_child(&there), -EPROTO);
    close(memory);
}

static void test_session_without_descriptor(void **state) {
    struct vcuda_supervise_session session = {.op = VCUDA_SUPERVISE_SESSION, .gpu_count = 1};
    int there;

    (void)state;
    assert_int_equal(send(sock, &session, sizeof(session), 0), sizeof(session));
    assert_int_equal(wait_in_child(&there), -EPROTO);
}

static void test_vcudad_gone(void **state) {
    int there;

    (void)state;
    assert_int_equal(wait_in_child(&there), -EPIPE);
}

static void test_give_to_dead_worker(void **state) {
    struct vcuda_supervise_session session = {.op = VCUDA_SUPERVISE_SESSION, .gpu_count = 1};

    (void)state;
    close(worker);
    worker = -1;
    assert_int_equal(vcuda_supervise_give(sock, &session, STDIN_FILENO, STDIN_FILENO), -EPIPE);
}

static void test_drop_argument(void **state) {
    static const char *const bad[] = {
        "--drop=",       "--drop=1",      "--drop=1:",   "--drop=:1",   "--drop=0:0",
        "--drop=1:2,",   "--drop=1:2;3",  "--drop=-1:2", "--drop=1:+2", "--drop=4294967295:1",
        "--drop=1:2, 3", "--drop=1:2,3x",
    };
    struct vcuda_sandbox s = {0};

    (void)state;
    assert_int_equal(vcuda_sandbox_argument(&s, "--drop=65534:65533,44,107"), 0);
    assert_true(s.drop);
    assert_int_equal(s.uid, 65534);
    assert_int_equal(s.gid, 65533);
    assert_int_equal(s.group_count, 2);
    assert_int_equal(s.groups[1], 107);
    assert_int_equal(vcuda_sandbox_argument(&s, "--other"), -ENOENT);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct vcuda_sandbox none = {0};

        if (vcuda_sandbox_argument(&none, bad[i]) != -EINVAL || none.drop)
            fail_msg("%s was taken", bad[i]);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_ready),
        TEST(test_failed_text_ends),
        TEST(test_session_with_descriptors),
        TEST(test_session_refused),
        TEST(test_place_refused),
        TEST(test_session_without_descriptor),
        TEST(test_vcudad_gone),
        TEST(test_give_to_dead_worker),
        TEST(test_drop_argument),
    };

    return cmocka_run_group_tests_name("supervise", tests, NULL, NULL);
}
