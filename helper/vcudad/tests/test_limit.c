// SPDX-License-Identifier: Apache-2.0
/*
 * Programs of one user under a limit of device memory, on the real worker and the simulated GPU.
 */
#include "program.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT "64"
#define PATIENCE_MS 20000

static struct daemon vcudad;

static int setup(void **state) {
    (void)state;
    daemon_init(&vcudad);
    daemon_start(&vcudad, ARGS("--worker", WORKER, "--driver", DRIVER, "--max-local-gpu-mib", LIMIT,
                               "--warm", "2"));
    daemon_expect_status(&vcudad, "\"ready\": 2");
    return 0;
}

static int setup_two_devices(void **state) {
    int r;

    setenv("SIMGPU_DEVICES", "2", 1);
    r = setup(state);
    unsetenv("SIMGPU_DEVICES");
    return r;
}

static int teardown(void **state) {
    (void)state;
    daemon_finish(&vcudad);
    return 0;
}

static struct program start(void) {
    return program_start(&vcudad, MEMORY_CLIENT);
}

static void expect(const struct program *p, const char *order, const char *answer) {
    program_tell(p, order);
    assert_string_equal(program_says(p, PATIENCE_MS), answer);
}

static void test_device_is_as_large_as_the_limit(void **state) {
    struct program p = start();

    (void)state;
    expect(&p, "size\n", LIMIT " " LIMIT);
    assert_int_equal(program_end(&p), 0);
}

static void test_all_kinds_count(void **state) {
    static const char *const kinds[] = {"plain",  "pitched", "array",   "mipmap",  "pooled",
                                        "mapped", "handle",  "context", "variable"};
    struct program p = start();
    char order[32];

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        snprintf(order, sizeof(order), "fill %s\n", kinds[i]);
        print_message("# %s", order);
        expect(&p, order, "64 error 2 left 0 then 64");
    }
    /* Together as well as each by itself. */
    expect(&p, "take 30\n", "30 error 0");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        snprintf(order, sizeof(order), "fill %s\n", kinds[i]);
        expect(&p, order, "32 error 2 left 2 then 34");
    }
    assert_int_equal(program_end(&p), 0);
}

/* What a stream of another device than the current context's gives is counted, too. */
static void test_other_device_counts(void **state) {
    struct program p = start();

    (void)state;
    expect(&p, "fill elsewhere\n", "64 error 2 left 0 then 64");
    expect(&p, "take 30\n", "30 error 0");
    expect(&p, "fill elsewhere\n", "32 error 2 left 2 then 34");
    assert_int_equal(program_end(&p), 0);
}

static void test_programs_share_it(void **state) {
    struct program a = start(), b = start();

    (void)state;
    expect(&a, "take 40\n", "40 error 0");
    expect(&b, "fill plain\n", "24 error 2 left 0 then 24");
    expect(&b, "take 100\n", "24 error 2");
    expect(&a, "take 1\n", "0 error 2");
    program_worker(&vcudad, &a);
    daemon_expect_status(&vcudad, "\"gpu_memory\": 41943040, \"gpu_memory_limit\": 67108864");
    daemon_expect_status(&vcudad, "\"gpu_memory\": 25165824, \"gpu_memory_limit\": 67108864");
    assert_int_equal(program_end(&a), 0);
    daemon_expect_status(&vcudad, "\"serving\": 1");
    expect(&b, "take 100\n", "40 error 2");
    assert_int_equal(program_end(&b), 0);
}

static void test_death_gives_it_back(void **state) {
    struct program a = start(), b = start();

    (void)state;
    expect(&a, "take 100\n", "64 error 2");
    expect(&b, "take 1\n", "0 error 2");
    assert_int_equal(kill(program_worker(&vcudad, &a), SIGKILL), 0);
    daemon_expect_status(&vcudad, "\"serving\": 1");
    expect(&b, "take 100\n", "64 error 2");
    program_end(&a);
    assert_int_equal(kill(b.pid, SIGKILL), 0);
    program_end(&b);
    daemon_expect_status(&vcudad, "\"serving\": 0");
    a = start();
    expect(&a, "take 100\n", "64 error 2");
    assert_int_equal(program_end(&a), 0);
}

/* The way from one program to another, inherited by both. */
static void open_way(int ends[2]) {
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(dup2(ends[0], 98), 98);
    assert_int_equal(dup2(ends[1], 99), 99);
}

static void close_way(const int ends[2]) {
    close(98);
    close(99);
    close(ends[0]);
    close(ends[1]);
}

/* The same of a pool: it counts as large as it is, also when its maker is gone. */
static void test_shared_pool_counts(void **state) {
    struct program a, b;
    int ends[2];

    (void)state;
    open_way(ends);
    a = start();
    b = start();
    expect(&a, "pool 40\n", "error 0");
    expect(&b, "receive\n", "error 0");
    expect(&b, "take 100\n", "24 error 2");
    assert_int_equal(program_end(&a), 0);
    daemon_expect_status(&vcudad, "\"serving\": 1");
    expect(&b, "take 1\n", "0 error 2");
    expect(&b, "drop\n", "error 0");
    expect(&b, "take 100\n", "40 error 2");
    assert_int_equal(program_end(&b), 0);
    close_way(ends);
}

/* What another program has by a descriptor counts, whoever made it, and once. */
static void test_shared_memory_counts(void **state) {
    struct program a, b;
    int ends[2];

    (void)state;
    open_way(ends);
    a = start();
    b = start();
    expect(&a, "send 40\n", "error 0");
    expect(&b, "take 100\n", "24 error 2"); /* on its way */
    expect(&b, "receive\n", "error 0");
    expect(&a, "take 1\n", "0 error 2");
    assert_int_equal(program_end(&a), 0);
    daemon_expect_status(&vcudad, "\"serving\": 1");
    expect(&b, "take 1\n", "0 error 2");
    expect(&b, "drop\n", "error 0");
    expect(&b, "take 100\n", "40 error 2");
    assert_int_equal(program_end(&b), 0);
    daemon_expect_status(&vcudad, "\"serving\": 0");
    /* What nobody took is free when its last descriptor is closed. */
    a = start();
    expect(&a, "send 64\n", "error 0");
    close_way(ends);
    b = start();
    expect(&b, "take 1\n", "0 error 2"); /* the program has both ends still */
    program_end(&a);
    daemon_expect_status(&vcudad, "\"serving\": 1");
    expect(&b, "take 100\n", "64 error 2");
    assert_int_equal(program_end(&b), 0);
    a = start();
    expect(&a, "lose 64\n", "error 0");
    expect(&a, "lose 64\n", "error 0"); /* what was lost is found when it is needed */
    expect(&a, "take 100\n", "64 error 2");
    assert_int_equal(program_end(&a), 0);
}

/* A program that starts when another has ended finds its memory free, however long that takes. */
static void test_waits_for_what_ends(void **state) {
    struct program a = start(), b;
    pid_t worker;

    (void)state;
    expect(&a, "take 64\n", "64 error 0");
    worker = program_worker(&vcudad, &a);
    assert_int_equal(kill(worker, SIGSTOP), 0);
    assert_int_equal(kill(a.pid, SIGKILL), 0);
    program_end(&a);
    b = start();
    program_tell(&b, "take 64\n");
    usleep(300 * 1000);
    assert_int_equal(kill(worker, SIGCONT), 0);
    assert_string_equal(program_says(&b, PATIENCE_MS), "64 error 0");
    expect(&b, "take 1\n", "0 error 2");
    assert_int_equal(program_end(&b), 0);
}

/* One that hangs is waited for once, not by every allocation from then on. */
static void test_waits_for_a_hung_one_once(void **state) {
    struct program a = start(), b;
    pid_t worker;

    (void)state;
    expect(&a, "take 64\n", "64 error 0");
    worker = program_worker(&vcudad, &a);
    assert_int_equal(kill(worker, SIGSTOP), 0);
    assert_int_equal(kill(a.pid, SIGKILL), 0);
    program_end(&a);
    b = start();
    expect(&b, "try 20\n", "20 refused");
    assert_int_equal(kill(worker, SIGCONT), 0);
    assert_int_equal(program_end(&b), 0);
}

/* Without vcudad nobody is asked, which is told once. */
static void test_vcudad_is_gone(void **state) {
    struct program a = start();

    (void)state;
    expect(&a, "take 100\n", "64 error 2");
    assert_int_equal(kill(vcudad.pid, SIGKILL), 0);
    daemon_wait(&vcudad);
    expect(&a, "try 5\n", "5 refused");
    assert_int_equal(daemon_count_log(&vcudad, "vcudad is gone"), 1);
    assert_int_equal(program_end(&a), 0);
}

/* An allocation whose handle finds no room takes none of what is left for descriptors. */
static void test_refused_handles_take_nothing(void **state) {
    struct program a = start();

    (void)state;
    expect(&a, "handles 4096\n", "1024 error 2 then 0");
    assert_int_equal(program_end(&a), 0);
}

/* What another program has open counts as long as it has, and once, however its maker ended it. */
static void lent_counts(const char *ended_by) {
    struct program a, b;
    int ends[2];

    print_message("# %s", ended_by);
    open_way(ends);
    a = start();
    b = start();
    expect(&a, "lend 40\n", "error 0");
    expect(&b, "borrow\n", "error 0");
    expect(&b, "borrow\n", "error 0");
    expect(&b, "take 100\n", "24 error 2");
    if (!strcmp(ended_by, "killed\n")) {
        assert_int_equal(kill(a.pid, SIGKILL), 0);
        program_end(&a);
        daemon_expect_status(&vcudad, "\"serving\": 1");
    } else if (!strcmp(ended_by, "ended\n")) {
        assert_int_equal(program_end(&a), 0);
        daemon_expect_status(&vcudad, "\"serving\": 1");
    } else {
        expect(&a, ended_by, "error 0");
        expect(&a, "take 1\n", "0 error 2");
        assert_int_equal(program_end(&a), 0);
        daemon_expect_status(&vcudad, "\"serving\": 1");
    }
    expect(&b, "take 1\n", "0 error 2");
    expect(&b, "return\n", "error 0");
    expect(&b, "take 1\n", "0 error 2"); /* opened twice */
    expect(&b, "return\n", "error 0");
    expect(&b, "take 100\n", "40 error 2");
    assert_int_equal(program_end(&b), 0);
    close_way(ends);
}

static void test_lent_memory_counts(void **state) {
    (void)state;
    lent_counts("free\n");
    lent_counts("async\n");
    lent_counts("destroy\n");
    lent_counts("ended\n");
    lent_counts("killed\n");
}

/* Who has it open may die, or lose its context; what nobody has open ends with its maker's. */
static void test_borrower_dies(void **state) {
    struct program a, b;
    int ends[2];

    (void)state;
    open_way(ends);
    a = start();
    b = start();
    expect(&a, "lend 40\n", "error 0");
    expect(&b, "borrow\n", "error 0");
    expect(&b, "return\n", "error 0");
    expect(&b, "borrow\n", "error 0");
    expect(&a, "free\n", "error 0");
    expect(&b, "borrow\n", "error 1"); /* its handle has ended */
    expect(&a, "take 100\n", "24 error 2");
    assert_int_equal(kill(b.pid, SIGKILL), 0);
    program_end(&b);
    daemon_expect_status(&vcudad, "\"serving\": 1");
    expect(&a, "take 100\n", "40 error 2");
    assert_int_equal(program_end(&a), 0);
    a = start();
    b = start();
    expect(&a, "lend 64\n", "error 0");
    expect(&b, "borrow\n", "error 0");
    expect(&a, "free\n", "error 0");
    expect(&a, "take 1\n", "0 error 2");
    expect(&b, "reset\n", "error 0");
    expect(&a, "lend 64\n", "error 0");
    expect(&a, "free\n", "error 0");
    assert_int_equal(program_end(&b), 0);
    daemon_expect_status(&vcudad, "\"serving\": 1");
    expect(&a, "lend 64\n", "error 0");
    expect(&a, "free\n", "error 0");
    expect(&a, "lend 64\n", "error 0");
    expect(&a, "destroy\n", "error 0");
    expect(&a, "take 100\n", "64 error 2");
    assert_int_equal(program_end(&a), 0);
    close_way(ends);
}

/* How often it was opened in a context that has ended says nothing of the next. */
static void test_opened_anew_after_reset(void **state) {
    struct program a, b;
    int ends[2];

    (void)state;
    open_way(ends);
    a = start();
    b = start();
    expect(&a, "lend 40\n", "error 0");
    expect(&b, "borrow\n", "error 0");
    expect(&b, "borrow\n", "error 0");
    expect(&b, "reset\n", "error 0");
    expect(&b, "known\n", "known 0");
    expect(&b, "borrow\n", "error 0");
    expect(&b, "known\n", "known 1");
    expect(&b, "return\n", "error 0");
    expect(&b, "known\n", "known 0");
    expect(&b, "return\n", "error 1");
    assert_int_equal(program_end(&a), 0);
    assert_int_equal(program_end(&b), 0);
    close_way(ends);
}

/* All ask at one time: together they get what there is, neither more nor less. */
static void test_race_for_it(void **state) {
    struct program programs[6];
    unsigned sum = 0, got;

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        programs[i] = start();
        expect(&programs[i], "size\n", LIMIT " " LIMIT);
    }
    for (size_t i = 0; i < 6; i++)
        program_tell(&programs[i], "take 100\n");
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(sscanf(program_says(&programs[i], PATIENCE_MS), "%u error 2", &got), 1);
        sum += got;
    }
    assert_int_equal(sum, 64);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(program_end(&programs[i]), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_device_is_as_large_as_the_limit),
        TEST(test_all_kinds_count),
        cmocka_unit_test_setup_teardown(test_other_device_counts, setup_two_devices, teardown),
        TEST(test_programs_share_it),
        TEST(test_death_gives_it_back),
        TEST(test_waits_for_what_ends),
        TEST(test_waits_for_a_hung_one_once),
        TEST(test_vcudad_is_gone),
        TEST(test_refused_handles_take_nothing),
        TEST(test_shared_memory_counts),
        TEST(test_shared_pool_counts),
        TEST(test_lent_memory_counts),
        TEST(test_borrower_dies),
        TEST(test_opened_anew_after_reset),
        TEST(test_race_for_it),
    };

    return cmocka_run_group_tests_name("limit of device memory", tests, NULL, NULL);
}
