// SPDX-License-Identifier: Apache-2.0
/*
 * A CUDA program, the library, vcudad and the real worker on the simulated
 * GPU: how a session begins and ends.
 */
#include "daemon.h"

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
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ARGS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})
#define REAL "--worker", WORKER, "--driver", DRIVER

/* A running CUDA program. */
struct program {
    pid_t pid;
    int in, out;
};

static struct daemon vcudad;

static int setup(void **state) {
    (void)state;
    daemon_init(&vcudad);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    daemon_finish(&vcudad);
    return 0;
}

static struct program program_start(void) {
    int in[2], out[2];
    struct program p;

    /* No program may hold another one's pipe open. */
    assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
    p = (struct program){.pid = fork(), .in = in[1], .out = out[0]};
    if (!p.pid) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        setenv("LD_LIBRARY_PATH", LIBRARY_DIR, 1);
        setenv("VCUDA_TRANSPORT", "local", 1);
        setenv("VCUDA_SOCKET", vcudad.socket, 1);
        execl(CLIENT, CLIENT, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    return p;
}

/* The program's next line, within ms; "" when it has ended. */
static const char *program_says(const struct program *p, int ms) {
    static char line[64];
    struct pollfd out = {.fd = p->out, .events = POLLIN};
    size_t length = 0;

    do {
        if (poll(&out, 1, ms) != 1)
            fail_msg("the program says nothing within %d ms", ms);
        if (read(p->out, line + length, 1) != 1)
            break;
    } while (line[length++] != '\n' && length < sizeof(line) - 1);
    line[length ? length - 1 : 0] = 0;
    return line;
}

static void program_poke(const struct program *p) {
    assert_int_equal(write(p->in, "x", 1), 1);
}

static int program_end(struct program *p) {
    int status = -1;

    close(p->in);
    for (int waited = 0; waited < 5000 && status == -1; waited += 10) {
        if (waitpid(p->pid, &status, WNOHANG) == 0)
            usleep(10 * 1000);
    }
    close(p->out);
    if (status == -1)
        kill(p->pid, SIGKILL);
    assert_int_not_equal(status, -1);
    return status;
}

static pid_t worker_of(const struct program *p) {
    char text[64];

    snprintf(text, sizeof(text), "\"pid\": %d, ", (int)p->pid);
    daemon_expect_status(&vcudad, text);
    return daemon_status_number(&vcudad, text, "\"worker\": ");
}

static void start(void) {
    char text[48];

    daemon_start(&vcudad, ARGS(REAL));
    /* Not the file that a killed one left. */
    snprintf(text, sizeof(text), "\"pid\": %d, \"started\"", (int)vcudad.pid);
    daemon_expect_status(&vcudad, text);
    daemon_expect_status(&vcudad, "\"ready\": 1");
}

static void test_program_works(void **state) {
    struct program p;

    (void)state;
    start();
    p = program_start();
    assert_string_equal(program_says(&p, 10000), "works");
    worker_of(&p);
    daemon_expect_status(&vcudad, "\"last_call\": ");
    assert_true(daemon_status_number(&vcudad, "\"sessions\"", "\"calls\": ") > 0);
    assert_true(daemon_status_number(&vcudad, "\"sessions\"", "\"pages\": ") > 0);
    assert_int_equal(program_end(&p), 0);
    daemon_expect_status(&vcudad, "\"ready\": 1, \"serving\": 0");
    daemon_expect_log(&vcudad, "ended with status 0");
    daemon_stop(&vcudad);
}

static void test_worker_killed(void **state) {
    struct program p, other;

    (void)state;
    start();
    p = program_start();
    other = program_start();
    assert_string_equal(program_says(&p, 10000), "works");
    assert_string_equal(program_says(&other, 10000), "works");
    assert_int_equal(kill(worker_of(&p), SIGKILL), 0);
    usleep(100 * 1000);
    program_poke(&p);
    assert_int_equal(strncmp(program_says(&p, 1000), "error ", 6), 0);
    assert_int_equal(program_end(&p), 1 << 8);
    program_poke(&other);
    assert_string_equal(program_says(&other, 5000), "works");
    assert_int_equal(program_end(&other), 0);
    p = program_start();
    assert_string_equal(program_says(&p, 10000), "works");
    assert_int_equal(program_end(&p), 0);
    daemon_stop(&vcudad);
}

static void test_program_killed(void **state) {
    struct program p;
    pid_t worker;

    (void)state;
    start();
    p = program_start();
    assert_string_equal(program_says(&p, 10000), "works");
    worker = worker_of(&p);
    assert_int_equal(kill(p.pid, SIGKILL), 0);
    assert_true(WIFSIGNALED(program_end(&p)));
    assert_true(process_ends(worker));
    daemon_expect_status(&vcudad, "\"serving\": 0");
    daemon_stop(&vcudad);
}

static void test_driver_missing(void **state) {
    struct program p;

    (void)state;
    daemon_start(&vcudad, ARGS("--worker", WORKER, "--driver", "/nonexistent/libcuda.so.1"));
    daemon_expect_status(&vcudad, "/nonexistent/libcuda.so.1");
    p = program_start();
    assert_string_equal(program_says(&p, 5000), "error 100"); /* CUDA_ERROR_NO_DEVICE */
    program_end(&p);
    daemon_stop(&vcudad);
}

static void test_vcudad_stops(void **state) {
    struct program p;
    pid_t worker;

    (void)state;
    start();
    p = program_start();
    assert_string_equal(program_says(&p, 10000), "works");
    worker = worker_of(&p);
    daemon_stop(&vcudad);
    assert_true(process_ends(worker));
    program_poke(&p);
    assert_int_equal(strncmp(program_says(&p, 1000), "error ", 6), 0);
    program_end(&p);
}

static void test_vcudad_killed(void **state) {
    struct program p, next;
    pid_t worker;

    (void)state;
    start();
    p = program_start();
    assert_string_equal(program_says(&p, 10000), "works");
    worker = worker_of(&p);
    assert_int_equal(kill(vcudad.pid, SIGKILL), 0);
    assert_true(WIFSIGNALED(daemon_wait(&vcudad)));
    program_poke(&p);
    assert_string_equal(program_says(&p, 5000), "works");
    start();
    next = program_start();
    assert_string_equal(program_says(&next, 10000), "works");
    program_poke(&p);
    assert_string_equal(program_says(&p, 5000), "works");
    assert_int_equal(program_end(&p), 0);
    assert_true(process_ends(worker));
    assert_int_equal(program_end(&next), 0);
    daemon_stop(&vcudad);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_program_works),  TEST(test_worker_killed), TEST(test_program_killed),
        TEST(test_driver_missing), TEST(test_vcudad_stops),  TEST(test_vcudad_killed),
    };

    return cmocka_run_group_tests_name("sessions", tests, NULL, NULL);
}
