// SPDX-License-Identifier: Apache-2.0
/*
 * What a worker can still do once it serves: asked of a worker that vcudad
 * started, which tries each thing in earnest.
 */
#include "daemon.h"
#include "probe.h"
#include "sandbox.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct daemon vcudad;

/* One vcudad with these arguments, one session, one answer. */
static struct probe_answer ask_worker(const char *const *arguments) {
    struct probe_answer answer;
    char command = PROBE_REPORT;
    int fd;

    daemon_init(&vcudad);
    daemon_start(&vcudad, arguments);
    fd = client_connect(&vcudad);
    assert_int_equal(client_opened(fd), 0);
    assert_int_equal(send(fd, &command, 1, MSG_NOSIGNAL), 1);
    assert_int_equal(recv(fd, &answer, sizeof(answer), 0), sizeof(answer));
    close(fd);
    daemon_stop(&vcudad);
    return answer;
}

static struct probe_answer ask_default(void) {
    return ask_worker((const char *const[]){NULL});
}

static int teardown(void **state) {
    (void)state;
    daemon_finish(&vcudad);
    return 0;
}

static void test_always(void **state) {
    struct probe_answer a = ask_default();

    (void)state;
    assert_int_equal(a.no_new_privs, 1);
    assert_int_equal(a.dumpable, 0);
    assert_int_equal(a.core, 0);
    /* What the driver needs goes on. */
    assert_int_equal(a.outcomes[PROBE_THREAD], 0);
    assert_int_equal(a.outcomes[PROBE_OPEN_NULL], 0);
    assert_int_equal(a.outcomes[PROBE_UNIX], 0);
    assert_int_equal(a.outcomes[PROBE_SIGNAL_SELF], 0);
    assert_int_equal(a.outcomes[PROBE_SCHEDULE_SELF], 0);
}

/* The driver's addresses must be free in the program. */
static void test_maps_elsewhere(void **state) {
    struct probe_answer a = ask_default();
    void *own = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_ptr_not_equal(own, MAP_FAILED);
    assert_in_range(a.mapping, 0x200000000000, 0x4fffffffffff);
    assert_true((uintptr_t)own > 0x500000000000);
    munmap(own, 4096);
}

static void test_filter(void **state) {
    static const enum probe_attempt denied[] = {
        PROBE_EXECVE,   PROBE_FORK,         PROBE_SPAWN,          PROBE_INET,
        PROBE_DATAGRAM, PROBE_CONNECT,      PROBE_SIGNAL_INIT,    PROBE_PTRACE,
        PROBE_BPF,      PROBE_OTHER_LIMITS, PROBE_SIGNAL_BY_FILE, PROBE_SCHEDULE_OTHER,
    };
    struct probe_answer a = ask_default();

    (void)state;
    if (!vcuda_sandbox_filters()) {
        print_message("built without libseccomp\n");
        skip();
    }
    for (size_t i = 0; i < sizeof(denied) / sizeof(denied[0]); i++) {
        if (a.outcomes[denied[i]] != EPERM)
            fail_msg("attempt %d: error %d instead of EPERM", denied[i], a.outcomes[denied[i]]);
    }
}

static void test_user(void **state) {
    struct probe_answer a = ask_worker((const char *const[]){"--worker-user", "nobody", NULL});

    (void)state;
    if (geteuid()) {
        print_message("needs root\n");
        skip();
    }
    assert_int_equal(a.uid, 65534);
    assert_int_not_equal(a.gid, 0);
    assert_int_equal(a.groups, 1);
    assert_int_equal(a.outcomes[PROBE_ROOT], EPERM);
}

static void test_off(void **state) {
    struct probe_answer a = ask_worker((const char *const[]){"--no-sandbox", NULL});

    (void)state;
    assert_int_equal(a.no_new_privs, 0);
    assert_int_equal(a.uid, getuid());
    assert_int_equal(a.outcomes[PROBE_FORK], 0);
    assert_int_equal(a.outcomes[PROBE_SPAWN], 0);
    assert_int_equal(a.outcomes[PROBE_EXECVE], ENOENT);
    assert_int_equal(a.outcomes[PROBE_CONNECT], ENOTSOCK);
    assert_int_equal(a.outcomes[PROBE_PTRACE], ESRCH);
    assert_int_equal(a.outcomes[PROBE_INET], 0);
    assert_int_equal(a.outcomes[PROBE_SIGNAL_BY_FILE], 0);
    assert_int_equal(a.outcomes[PROBE_SCHEDULE_OTHER], 0);
    daemon_expect_log(&vcudad, "--no-sandbox: ");
}

static void test_user_root_refused(void **state) {
    (void)state;
    daemon_init(&vcudad);
    if (geteuid()) {
        print_message("needs root\n");
        skip();
    }
    daemon_start(&vcudad, (const char *const[]){"--worker-user", "root", NULL});
    assert_int_equal(daemon_wait(&vcudad), 1 << 8);
    daemon_expect_log(&vcudad, "workers must not be");
}

static void test_user_unknown(void **state) {
    (void)state;
    daemon_init(&vcudad);
    if (geteuid()) {
        print_message("needs root\n");
        skip();
    }
    daemon_start(&vcudad, (const char *const[]){"--worker-user", "no-such-user", NULL});
    assert_int_equal(daemon_wait(&vcudad), 1 << 8);
    daemon_expect_log(&vcudad, "adduser --system");
}

#define TEST(function) cmocka_unit_test_teardown(function, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_always), TEST(test_maps_elsewhere),    TEST(test_filter),       TEST(test_user),
        TEST(test_off),    TEST(test_user_root_refused), TEST(test_user_unknown),
    };

    return cmocka_run_group_tests_name("sandbox", tests, NULL, NULL);
}
