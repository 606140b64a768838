// SPDX-License-Identifier: Apache-2.0
/* The account of device memory: a limit that nobody passes, whoever dies, and what holds memory. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "memory.h"
#include "physical.h"

#define LIMIT 1000u
#define PROCESSES 4

static struct vcuda_owner *owner;

static int setup(void **state) {
    (void)state;
    owner = mmap(NULL, sizeof(*owner), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (owner == MAP_FAILED)
        return -1;
    owner->account.shares = PROCESSES + 1;
    memory_start(owner, 0, LIMIT);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    memory_start(NULL, 0, 0);
    return munmap(owner, sizeof(*owner));
}

static uint64_t held(void) {
    return vcuda_account_held(&owner->account);
}

static void test_limit(void **state) {
    struct vcuda_account *a = &owner->account;

    (void)state;
    assert_true(vcuda_account_take(a, 0, LIMIT, 600));
    assert_false(vcuda_account_take(a, 1, LIMIT, 401));
    assert_true(vcuda_account_take(a, 1, LIMIT, 400));
    assert_false(vcuda_account_take(a, 0, LIMIT, 1));
    assert_true(vcuda_account_take(a, 0, LIMIT, 0));
    assert_true(vcuda_account_take(a, 0, 0, 5000)); /* no limit */
    vcuda_account_clear(a, 0);
    assert_int_equal(held(), 400);
    vcuda_account_give_back(a, 1, 400);
    assert_int_equal(held(), 0);
}

/* What a sharer wrote, or one asks for, does not wrap around. */
static void test_nonsense(void **state) {
    struct vcuda_account *a = &owner->account;

    (void)state;
    assert_false(vcuda_account_take(a, 0, LIMIT, UINT64_MAX));
    a->share[1].held = UINT64_MAX - 10;
    assert_false(vcuda_account_take(a, 0, LIMIT, 100));
    a->share[1].held = 0;
    a->share[1].asked = UINT64_MAX; /* for ever: one gives up in the end */
    assert_false(vcuda_account_take(a, 0, LIMIT, 1));
    a->share[1].asked = 0;
    a->shares = UINT64_MAX;
    assert_true(vcuda_account_take(a, 0, LIMIT, LIMIT));
    assert_int_equal(a->share[0].asked, 0);
}

/* Takes and gives back until it is ended. */
static void __attribute__((noreturn)) race(uint32_t place) {
    struct vcuda_account *a = &owner->account;
    unsigned int seed = place;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        uint64_t bytes = 1 + (uint64_t)rand_r(&seed) % 400;

        if (!vcuda_account_take(a, place, LIMIT, bytes))
            continue;
        if (rand_r(&seed) % 2)
            vcuda_account_give_back(a, place, bytes);
        else
            vcuda_account_clear(a, place);
    }
}

static pid_t start(uint32_t place) {
    pid_t child = fork();

    if (!child)
        race(place);
    assert_true(child > 0);
    return child;
}

static void stop(const pid_t *children) {
    int status;

    for (uint32_t i = 0; i < PROCESSES; i++) {
        kill(children[i], SIGSTOP);
        assert_int_equal(waitpid(children[i], &status, WUNTRACED), children[i]);
        assert_true(WIFSTOPPED(status));
    }
}

static void end(pid_t child, uint32_t place) {
    int status;

    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    vcuda_account_clear(&owner->account, place);
}

/* Stopped at any instruction they hold no more than there is; killed, they leave nothing. */
static void test_processes_that_die(void **state) {
    pid_t children[PROCESSES];

    (void)state;
    for (uint32_t i = 0; i < PROCESSES; i++)
        children[i] = start(i);
    for (uint32_t n = 0; n < 100; n++) {
        uint32_t dies = n % PROCESSES;

        usleep(1000);
        stop(children); /* a sum is one only while nobody changes it */
        assert_true(held() <= LIMIT);
        end(children[dies], dies);
        children[dies] = start(dies);
        for (uint32_t i = 0; i < PROCESSES; i++)
            kill(children[i], SIGCONT);
    }
    for (uint32_t i = 0; i < PROCESSES; i++)
        end(children[i], i);
    assert_int_equal(held(), 0);
    assert_true(vcuda_account_take(&owner->account, 0, LIMIT, LIMIT));
}

static void hold(enum memory_what what, uint64_t key, uint64_t bytes, uint64_t context,
                 void *pool) {
    const struct memory_part part = {.bytes = bytes, .context = context, .pool = pool};

    assert_true(memory_take(bytes));
    memory_hold(what, key, &part);
}

static void test_what_holds_memory(void **state) {
    struct memory_part part;
    int pool;

    (void)state;
    hold(MEMORY_PLAIN, 4096, 100, 1, NULL);
    hold(MEMORY_ARRAY, 4096, 200, 2, NULL); /* the same number, of another kind */
    hold(MEMORY_PLAIN, 8192, 300, 1, NULL);
    assert_int_equal(memory_left(LIMIT), 400);
    assert_int_equal(memory_left(50), 50);
    assert_false(memory_take(401));
    assert_false(memory_let_go(MEMORY_PLAIN, 1, &part));
    assert_true(memory_let_go(MEMORY_PLAIN, 8192, &part));
    assert_int_equal(part.bytes, 300);
    assert_int_equal(held(), 600); /* until the driver has said yes */
    memory_give_back(part.bytes);
    memory_end_context(1);
    assert_int_equal(held(), 200);
    memory_end_context(0);
    assert_int_equal(held(), 200);
    hold(MEMORY_POOLED, 1, 10, 0, &pool);
    hold(MEMORY_POOLED, 2, 20, 0, &pool);
    hold(MEMORY_POOLED, 3, 40, 0, NULL);
    assert_int_equal(memory_leave_pool(&pool), 30);
    assert_int_equal(memory_leave_pool(&pool), 0);
    assert_true(memory_let_go(MEMORY_POOLED, 1, &part));
    assert_null(part.pool);
    memory_end_context(2);
    for (uint64_t key = 2; key < 4; key++)
        assert_true(memory_let_go(MEMORY_POOLED, key, &part));
}

static void test_without_a_limit(void **state) {
    (void)state;
    memory_start(owner, 0, 0);
    assert_false(memory_limited());
    assert_int_equal(memory_size(77), 77);
    assert_true(memory_take(1ull << 40));
    assert_true(memory_take(UINT64_MAX)); /* no driver gives so much */
    memory_give_back(UINT64_MAX);
    assert_int_equal(memory_left(5), 5);
    assert_int_equal(held(), 1ull << 40);
}

static void test_grains(void **state) {
    (void)state;
    assert_int_equal(memory_grains(0), 0);
    assert_int_equal(memory_grains(1), MEMORY_GRAIN);
    assert_int_equal(memory_grains(MEMORY_GRAIN), MEMORY_GRAIN);
    assert_true(memory_grains(UINT64_MAX - 5) == UINT64_MAX);
}

/* Physical memory lives as long as a handle or a mapping of it. */
static void test_physical(void **state) {
    struct physical *p;
    struct physical_mapping *list;

    (void)state;
    assert_true(memory_take(100));
    physical_made(7, 100);
    physical_map(4096, 4096, physical_use_handle(7));
    physical_map(8192, 4096, physical_use_handle(7));
    physical_drop(physical_release(7));
    assert_null(physical_release(7));
    assert_int_equal(held(), 100);
    /* The driver may use the number again. */
    assert_true(memory_take(50));
    physical_made(7, 50);
    p = physical_use_address(8191);
    assert_non_null(p);
    physical_handle(9, p);
    assert_null(physical_use_address(4095));
    list = physical_unmap(0, 1 << 20);
    assert_non_null(list);
    assert_null(physical_use_address(8192));
    physical_put_back(list);
    p = physical_use_address(8192);
    assert_non_null(p);
    physical_drop(p);
    physical_end(physical_unmap(4096, 8192));
    assert_int_equal(held(), 150);
    physical_drop(physical_release(9));
    assert_int_equal(held(), 50);
    physical_drop(physical_release(7));
    assert_int_equal(held(), 0);
    assert_null(physical_unmap(1, UINT64_MAX));
    physical_map(1, 1, NULL);
    physical_drop(NULL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_limit),
        TEST(test_nonsense),
        TEST(test_processes_that_die),
        TEST(test_what_holds_memory),
        TEST(test_without_a_limit),
        TEST(test_grains),
        TEST(test_physical),
    };

    return cmocka_run_group_tests_name("account of memory", tests, NULL, NULL);
}
