// SPDX-License-Identifier: Apache-2.0
/*
 * vcudad as a process, with probe workers: what its clients and its admin see.
 */
#include "daemon.h"
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct daemon vcudad;

static int setup(void **state) {
    (void)state;
    unsetenv("PROBE");
    daemon_init(&vcudad);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    daemon_finish(&vcudad);
    return 0;
}

static int open_session(void) {
    int fd = client_connect(&vcudad);

    assert_int_equal(client_opened(fd), 0);
    return fd;
}

static struct probe_answer ask(int fd) {
    struct probe_answer answer;
    char command = PROBE_REPORT;

    assert_int_equal(send(fd, &command, 1, MSG_NOSIGNAL), 1);
    assert_int_equal(recv(fd, &answer, sizeof(answer), 0), sizeof(answer));
    return answer;
}

static void test_pool_fills(void **state) {
    (void)state;
    daemon_start(&vcudad, ARGS("--warm", "3"));
    daemon_expect_status(&vcudad, "\"ready\": 3, \"serving\": 0");
    daemon_expect_status(&vcudad, "\"driver\": {\"version\": 13000, \"devices\": 2");
    daemon_stop(&vcudad);
}

static void test_session_reaches_worker(void **state) {
    struct probe_answer answer;
    char text[64];
    int fd;

    (void)state;
    daemon_start(&vcudad, ARGS());
    fd = open_session();
    answer = ask(fd);
    assert_int_equal(answer.session.domid, VCUDA_SUPERVISE_LOCAL);
    assert_int_equal(answer.session.pid, getpid());
    assert_int_equal(answer.session.uid, getuid());
    assert_int_equal(answer.session.gpu_count, 2);
    assert_int_equal(answer.session.gpus[1], 1);
    /* Standard input, output, error, the way to share, the client: nothing else of vcudad's. */
    assert_int_equal(answer.descriptors, 5);
    snprintf(text, sizeof(text), "\"pid\": %d", (int)getpid());
    daemon_expect_status(&vcudad, text);
    daemon_expect_status(&vcudad, "\"calls\": 1,");
    daemon_expect_status(&vcudad, "\"ready\": 1, \"serving\": 1");
    close(fd);
    assert_true(process_ends(answer.pid));
    daemon_expect_status(&vcudad, "\"ready\": 1, \"serving\": 0");
    daemon_stop(&vcudad);
}

static void test_many_sessions_at_once(void **state) {
    int fds[8];

    (void)state;
    daemon_start(&vcudad, ARGS());
    for (int i = 0; i < 8; i++)
        fds[i] = client_connect(&vcudad);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(client_opened(fds[i]), 0);
        ask(fds[i]);
    }
    daemon_expect_status(&vcudad, "\"starting\": 0, \"ready\": 1, \"serving\": 8");
    for (int i = 0; i < 8; i++)
        close(fds[i]);
    daemon_expect_status(&vcudad, "\"starting\": 0, \"ready\": 1, \"serving\": 0");
    daemon_stop(&vcudad);
}

/* More are kept ready while programs have to wait for them. */
static void test_burst(void **state) {
    int fds[8];

    (void)state;
    daemon_start(&vcudad, ARGS("--burst", "2"));
    daemon_expect_status(&vcudad, "\"starting\": 0, \"ready\": 1, \"serving\": 0");
    fds[0] = open_session();
    close(fds[0]);
    daemon_expect_status(&vcudad, "\"starting\": 0, \"ready\": 1, \"serving\": 0");
    for (int i = 0; i < 8; i++)
        fds[i] = client_connect(&vcudad);
    for (int i = 0; i < 8; i++)
        assert_int_equal(client_opened(fds[i]), 0);
    daemon_expect_status(&vcudad, "\"starting\": 0, \"ready\": 3, \"serving\": 8");
    for (int i = 0; i < 8; i++)
        close(fds[i]);
    daemon_expect_status(&vcudad, "\"starting\": 0, \"ready\": 1, \"serving\": 0");
    daemon_stop(&vcudad);
}

static void test_no_worker_kept(void **state) {
    int fd;

    (void)state;
    daemon_start(&vcudad, ARGS("--warm", "0"));
    daemon_expect_status(&vcudad, "\"starting\": 0, \"ready\": 0, \"serving\": 0");
    fd = open_session();
    daemon_expect_status(&vcudad, "\"starting\": 0, \"ready\": 0, \"serving\": 1");
    close(fd);
    daemon_stop(&vcudad);
}

static void test_worker_killed(void **state) {
    struct probe_answer answer;
    int fd;
    int other;

    (void)state;
    daemon_start(&vcudad, ARGS());
    fd = open_session();
    other = open_session();
    answer = ask(fd);
    assert_int_equal(kill(answer.pid, SIGKILL), 0);
    assert_true(client_sees_end(fd));
    daemon_expect_log(&vcudad, "was ended by signal 9 (Killed); its last call was 114");
    daemon_expect_status(&vcudad, "\"ready\": 1, \"serving\": 1");
    ask(other); /* goes on */
    close(fd);
    close(other);
    daemon_stop(&vcudad);
}

static void test_idle_worker_killed(void **state) {
    char command = PROBE_ABORT;
    int fd;

    (void)state;
    daemon_start(&vcudad, ARGS());
    fd = open_session();
    assert_int_equal(send(fd, &command, 1, MSG_NOSIGNAL), 1);
    assert_true(client_sees_end(fd));
    daemon_expect_log(&vcudad, "was ended by signal 6");
    close(fd);
    fd = open_session();
    close(fd);
    daemon_stop(&vcudad);
}

static void test_stop_leaves_nothing(void **state) {
    struct probe_answer answer;
    struct stat info;
    int fd;

    (void)state;
    daemon_start(&vcudad, ARGS("--warm", "2"));
    fd = open_session();
    answer = ask(fd);
    daemon_expect_status(&vcudad, "\"ready\": 2, \"serving\": 1");
    daemon_stop(&vcudad); /* ends when its last child has: none can be left */
    assert_true(process_ends(answer.pid));
    assert_true(client_sees_end(fd));
    assert_int_equal(lstat(vcudad.socket, &info), -1);
    assert_false(process_ends(getpid())); /* the check can fail */
    close(fd);
}

static void test_driver_missing(void **state) {
    int fd;

    (void)state;
    daemon_start(&vcudad, ARGS("--driver", "/nonexistent/libcuda.so.1"));
    fd = client_connect(&vcudad);
    assert_int_equal(client_opened(fd), -ENODEV);
    assert_true(client_sees_end(fd));
    close(fd);
    daemon_expect_log(&vcudad, "no worker: /nonexistent/libcuda.so.1: cannot open");
    daemon_expect_status(&vcudad, "\"failure\": \"/nonexistent/libcuda.so.1: cannot open");
    usleep(1500 * 1000);
    /* At once and after one second: no storm. Told as an error once. */
    assert_in_range(daemon_count_log(&vcudad, "starts"), 2, 3);
    assert_int_equal(daemon_count_log(&vcudad, "error: no worker"), 1);
    daemon_stop(&vcudad);
}

static void test_driver_appears(void **state) {
    char driver[96];
    int fd;

    (void)state;
    snprintf(driver, sizeof(driver), "%s/libcuda.so.1", vcudad.dir);
    daemon_start(&vcudad, ARGS("--driver", driver, "--no-sandbox"));
    daemon_expect_status(&vcudad, "cannot open");
    assert_int_equal(symlink(SOME_LIBRARY, driver), 0);
    assert_int_equal(kill(vcudad.pid, SIGHUP), 0);
    daemon_expect_status(&vcudad, "\"failure\": null");
    fd = open_session();
    close(fd);
    daemon_stop(&vcudad);
}

static void test_worker_missing(void **state) {
    int fd;

    (void)state;
    daemon_start(&vcudad, ARGS("--worker", "/nonexistent/vcuda-worker"));
    fd = client_connect(&vcudad);
    assert_int_equal(client_opened(fd), -ENODEV);
    close(fd);
    daemon_expect_log(&vcudad, "cannot execute /nonexistent/vcuda-worker");
    daemon_stop(&vcudad);
}

static void expect_bad_worker(const char *probe, const char *log) {
    int fd;

    setenv("PROBE", probe, 1);
    daemon_start(&vcudad, ARGS());
    fd = client_connect(&vcudad);
    assert_int_equal(client_opened(fd), -ENODEV);
    close(fd);
    daemon_expect_log(&vcudad, log);
    daemon_stop(&vcudad);
}

static void test_worker_crashes_at_start(void **state) {
    (void)state;
    expect_bad_worker("crash", "was ended by signal 6 (Aborted) while it loaded the driver");
}

static void test_worker_of_other_release(void **state) {
    (void)state;
    expect_bad_worker("other-version", "speaks another language");
}

static void test_worker_crashes_idle(void **state) {
    (void)state;
    setenv("PROBE", "crash-idle", 1);
    daemon_start(&vcudad, ARGS());
    daemon_expect_log(&vcudad, "was ended by signal 6 (Aborted) while it waited for a session");
    usleep(500 * 1000);
    assert_int_equal(daemon_count_log(&vcudad, "starts"), 1);
    daemon_stop(&vcudad);
}

static void test_slow_driver(void **state) {
    int gone;
    int fd;

    (void)state;
    setenv("PROBE", "slow", 1);
    daemon_start(&vcudad, ARGS());
    gone = client_connect(&vcudad);
    fd = client_connect(&vcudad);
    close(gone); /* while it waits: must not cost a worker */
    assert_int_equal(client_opened(fd), 0);
    daemon_expect_status(&vcudad, "\"serving\": 1");
    assert_int_equal(daemon_count_log(&vcudad, "serves session"), 1);
    close(fd);
    daemon_stop(&vcudad);
}

static void test_session_limit(void **state) {
    int fds[3];

    (void)state;
    daemon_start(&vcudad, ARGS("--max-local-sessions", "2"));
    for (int i = 0; i < 3; i++)
        fds[i] = client_connect(&vcudad);
    assert_int_equal(client_opened(fds[0]), 0);
    assert_int_equal(client_opened(fds[1]), 0);
    assert_int_equal(client_opened(fds[2]), -EDQUOT);
    daemon_expect_status(&vcudad, "\"serving\": 2");
    close(fds[0]);
    daemon_expect_status(&vcudad, "\"serving\": 1");
    close(fds[2]);
    fds[2] = open_session();
    close(fds[1]);
    close(fds[2]);
    daemon_stop(&vcudad);
}

/* A client that asks only after it was refused gets its answer nevertheless. */
static void test_refusal_waits_for_question(void **state) {
    struct pollfd early;
    int fd;

    (void)state;
    daemon_start(&vcudad, ARGS("--max-local-sessions", "0"));
    fd = client_connect_silent(&vcudad);
    early = (struct pollfd){.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&early, 1, 300), 0);
    assert_int_equal(send(fd, "question", 8, MSG_NOSIGNAL), 8);
    assert_int_equal(client_opened(fd), -EDQUOT);
    close(fd);
    daemon_stop(&vcudad);
}

static void test_second_vcudad_refused(void **state) {
    struct daemon second;
    int fd;

    (void)state;
    daemon_start(&vcudad, ARGS());
    fd = open_session();
    second = vcudad;
    daemon_start(&second, ARGS());
    assert_int_equal(WEXITSTATUS(daemon_wait(&second)), 1);
    daemon_expect_log(&vcudad, "vcudad runs already (process ");

    /* Another folder, but the same socket. */
    daemon_init(&second);
    daemon_start(&second, ARGS("--socket", vcudad.socket));
    assert_int_equal(WEXITSTATUS(daemon_wait(&second)), 1);
    daemon_expect_log(&second, "another vcudad listens there");
    daemon_finish(&second);

    ask(fd);
    close(fd);
    fd = open_session();
    close(fd);
    daemon_stop(&vcudad);
}

static void test_stale_socket_replaced(void **state) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int stale = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    int fd;

    (void)state;
    strcpy(address.sun_path, vcudad.socket);
    assert_int_equal(bind(stale, (struct sockaddr *)&address, sizeof(address)), 0);
    close(stale);
    daemon_start(&vcudad, ARGS());
    daemon_expect_log(&vcudad, "replaces the stale socket");
    fd = open_session();
    close(fd);
    daemon_stop(&vcudad);
}

static void test_other_file_stays(void **state) {
    int file = open(vcudad.socket, O_WRONLY | O_CREAT, 0600);
    struct stat info;

    (void)state;
    close(file);
    daemon_start(&vcudad, ARGS());
    assert_int_equal(WEXITSTATUS(daemon_wait(&vcudad)), 1);
    daemon_expect_log(&vcudad, "there is a file of another kind");
    assert_int_equal(lstat(vcudad.socket, &info), 0);
}

static void test_socket_mode(void **state) {
    struct stat info;
    int fd;

    (void)state;
    daemon_start(&vcudad, ARGS("--socket-mode", "0600"));
    fd = open_session();
    assert_int_equal(stat(vcudad.socket, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    close(fd);
    daemon_stop(&vcudad);
}

/* The kill that vcudad cannot see: sessions go on, idle workers end, the next one takes over. */
static void test_vcudad_killed(void **state) {
    struct probe_answer before;
    int fd;
    int next;
    pid_t idle;

    (void)state;
    daemon_start(&vcudad, ARGS("--warm", "1"));
    fd = open_session();
    before = ask(fd);
    daemon_expect_status(&vcudad, "\"starting\": 0, \"ready\": 1, \"serving\": 1");
    idle = daemon_other_worker(&vcudad, before.pid);
    assert_int_equal(kill(vcudad.pid, SIGKILL), 0);
    assert_true(WIFSIGNALED(daemon_wait(&vcudad)));
    assert_true(process_ends(idle));
    assert_int_equal(ask(fd).pid, before.pid);
    daemon_start(&vcudad, ARGS());
    next = open_session();
    assert_int_not_equal(ask(next).pid, before.pid);
    assert_int_equal(ask(fd).pid, before.pid);
    close(fd);
    assert_true(process_ends(before.pid));
    close(next);
    daemon_stop(&vcudad);
}

static void test_table_in_log(void **state) {
    int fd;

    (void)state;
    daemon_start(&vcudad, ARGS());
    fd = open_session();
    ask(fd);
    assert_int_equal(kill(vcudad.pid, SIGUSR1), 0);
    daemon_expect_log(&vcudad, "1 serving, 0 waiting");
    daemon_expect_log(&vcudad, "1 calls, 0 errors, last call 114");
    close(fd);
    daemon_stop(&vcudad);
}

static void test_status_is_json(void **state) {
    char command[256];
    int fd;

    (void)state;
    daemon_start(&vcudad, ARGS());
    fd = open_session();
    daemon_expect_status(&vcudad, "\"serving\": 1");
    snprintf(command, sizeof(command),
             "python3 -c 'import json; s = json.load(open(\"%s/status\")); "
             "assert s[\"sessions\"][0][\"gpus\"] == [0, 1]'",
             vcudad.dir);
    assert_int_equal(system(command), 0);
    close(fd);
    daemon_stop(&vcudad);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_pool_fills),
        TEST(test_session_reaches_worker),
        TEST(test_many_sessions_at_once),
        TEST(test_burst),
        TEST(test_no_worker_kept),
        TEST(test_worker_killed),
        TEST(test_idle_worker_killed),
        TEST(test_stop_leaves_nothing),
        TEST(test_driver_missing),
        TEST(test_driver_appears),
        TEST(test_worker_missing),
        TEST(test_worker_crashes_at_start),
        TEST(test_worker_of_other_release),
        TEST(test_worker_crashes_idle),
        TEST(test_slow_driver),
        TEST(test_session_limit),
        TEST(test_refusal_waits_for_question),
        TEST(test_second_vcudad_refused),
        TEST(test_stale_socket_replaced),
        TEST(test_other_file_stays),
        TEST(test_socket_mode),
        TEST(test_vcudad_killed),
        TEST(test_table_in_log),
        TEST(test_status_is_json),
    };

    return cmocka_run_group_tests_name("vcudad", tests, NULL, NULL);
}
