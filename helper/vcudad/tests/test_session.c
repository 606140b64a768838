// SPDX-License-Identifier: Apache-2.0
/*
 * A CUDA program, the library, vcudad and the real worker on the simulated
 * GPU: how a session begins and ends.
 */
#include "program.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define REAL "--worker", WORKER, "--driver", DRIVER

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

static void expect_ready(void) {
    char text[48];

    /* Not the file that a killed one left. */
    snprintf(text, sizeof(text), "\"pid\": %d, \"started\"", (int)vcudad.pid);
    daemon_expect_status(&vcudad, text);
    daemon_expect_status(&vcudad, "\"ready\": 1");
}

static void start(void) {
    daemon_start(&vcudad, ARGS(REAL));
    expect_ready();
}

static void test_program_works(void **state) {
    struct program p;

    (void)state;
    start();
    p = program_start(&vcudad, CLIENT);
    assert_string_equal(program_says(&p, 10000), "works");
    program_worker(&vcudad, &p);
    daemon_expect_counted(&vcudad, "\"sessions\"", "\"calls\": ");
    daemon_expect_counted(&vcudad, "\"sessions\"", "\"pages\": ");
    assert_int_equal(program_end(&p), 0);
    daemon_expect_status(&vcudad, "\"ready\": 1, \"serving\": 0");
    daemon_expect_log(&vcudad, "ended with status 0");
    daemon_stop(&vcudad);
}

static void test_worker_killed(void **state) {
    struct program p, other;

    (void)state;
    start();
    p = program_start(&vcudad, CLIENT);
    other = program_start(&vcudad, CLIENT);
    assert_string_equal(program_says(&p, 10000), "works");
    assert_string_equal(program_says(&other, 10000), "works");
    assert_int_equal(kill(program_worker(&vcudad, &p), SIGKILL), 0);
    usleep(100 * 1000);
    program_tell(&p, "x");
    assert_int_equal(strncmp(program_says(&p, 1000), "error ", 6), 0);
    assert_int_equal(program_end(&p), 1 << 8);
    program_tell(&other, "x");
    assert_string_equal(program_says(&other, 5000), "works");
    assert_int_equal(program_end(&other), 0);
    p = program_start(&vcudad, CLIENT);
    assert_string_equal(program_says(&p, 10000), "works");
    assert_int_equal(program_end(&p), 0);
    daemon_stop(&vcudad);
}

static void test_program_killed(void **state) {
    struct program p;
    pid_t worker;

    (void)state;
    start();
    p = program_start(&vcudad, CLIENT);
    assert_string_equal(program_says(&p, 10000), "works");
    worker = program_worker(&vcudad, &p);
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
    p = program_start(&vcudad, CLIENT);
    assert_string_equal(program_says(&p, 5000), "error 100"); /* CUDA_ERROR_NO_DEVICE */
    program_end(&p);
    daemon_stop(&vcudad);
}

static void test_vcudad_stops(void **state) {
    struct program p;
    pid_t worker;

    (void)state;
    start();
    p = program_start(&vcudad, CLIENT);
    assert_string_equal(program_says(&p, 10000), "works");
    worker = program_worker(&vcudad, &p);
    daemon_stop(&vcudad);
    assert_true(process_ends(worker));
    program_tell(&p, "x");
    assert_int_equal(strncmp(program_says(&p, 1000), "error ", 6), 0);
    program_end(&p);
}

static void test_vcudad_killed(void **state) {
    struct program p, next;
    pid_t worker;

    (void)state;
    start();
    p = program_start(&vcudad, CLIENT);
    assert_string_equal(program_says(&p, 10000), "works");
    worker = program_worker(&vcudad, &p);
    assert_int_equal(kill(vcudad.pid, SIGKILL), 0);
    assert_true(WIFSIGNALED(daemon_wait(&vcudad)));
    program_tell(&p, "x");
    assert_string_equal(program_says(&p, 5000), "works");
    start();
    next = program_start(&vcudad, CLIENT);
    assert_string_equal(program_says(&next, 10000), "works");
    program_tell(&p, "x");
    assert_string_equal(program_says(&p, 5000), "works");
    assert_int_equal(program_end(&p), 0);
    assert_true(process_ends(worker));
    assert_int_equal(program_end(&next), 0);
    daemon_stop(&vcudad);
}

/* A worker says as much as its vcudad. */
static void test_worker_is_as_verbose(void **state) {
    struct program p;

    (void)state;
    start(); /* with -vv */
    p = program_start(&vcudad, CLIENT);
    assert_string_equal(program_says(&p, 10000), "works");
    daemon_expect_log(&vcudad, "]: serves ");
    assert_int_equal(program_end(&p), 0);
    daemon_stop(&vcudad);
    daemon_start(&vcudad, ARGS(REAL, "--quiet"));
    expect_ready();
    p = program_start(&vcudad, CLIENT);
    assert_string_equal(program_says(&p, 10000), "works");
    assert_int_equal(daemon_count_log(&vcudad, "]: serves "), 1); /* the first's */
    assert_int_equal(program_end(&p), 0);
    daemon_stop(&vcudad);
}

/* What one program had compiled the next one finds, and the worker says which. */
static void test_code_is_kept(void **state) {
    struct program p;

    (void)state;
    start();
    for (unsigned i = 1; i <= 3; i++) {
        p = program_start(&vcudad, CLIENT);
        assert_string_equal(program_says(&p, 10000), "works");
        assert_int_equal(program_end(&p), 0);
        assert_int_equal(daemon_count_log(&vcudad, "bytes of text: compiled"), 1);
        assert_int_equal(daemon_count_log(&vcudad, "bytes of text: kept"), i - 1);
    }
    daemon_stop(&vcudad);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_program_works),        TEST(test_worker_killed), TEST(test_program_killed),
        TEST(test_driver_missing),       TEST(test_vcudad_stops),  TEST(test_vcudad_killed),
        TEST(test_worker_is_as_verbose), TEST(test_code_is_kept),
    };

    return cmocka_run_group_tests_name("sessions", tests, NULL, NULL);
}
