// SPDX-License-Identifier: Apache-2.0
/* What is told of a domain, in its file and to xenstore: until it is told, and no more. */
#include "domains.h"
#include "log.h"
#include "owners.h"
#include "xen.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define DOMID 5u

static char dir[64];
static struct vcuda_stats stats = {.pages = 130};
static struct worker worker;
static struct pool pool;

/* xenstore, which may refuse. */
static bool store_works;
static unsigned tries;
static uint32_t told_sessions;
static uint64_t told_pages;

bool xen_publish(uint32_t domid, uint32_t sessions, uint64_t pages, uint64_t gpu_memory) {
    assert_int_equal(domid, DOMID);
    assert_int_equal(gpu_memory, sessions ? 4096 : 0);
    tries++;
    if (!store_works)
        return false;
    told_sessions = sessions;
    told_pages = pages;
    return true;
}

uint64_t owners_held_in_all(const struct owner *owner) {
    (void)owner;
    return 4096;
}

void vcuda_log(enum vcuda_log_level level, const char *format, ...) {
    (void)level;
    (void)format;
}

static const char *path_of(const char *name) {
    static char path[128];

    snprintf(path, sizeof(path), "%s/domains/%s", dir, name);
    return path;
}

static bool file_says(const char *line) {
    char text[1024] = "";
    int fd = open(path_of("5"), O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

    if (fd >= 0)
        close(fd);
    return got > 0 && strstr(text, line);
}

static void touch(const char *name) {
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    close(fd);
}

static int start(void **state) {
    (void)state;
    strcpy(dir, "/tmp/vcudad-domains-XXXXXX");
    assert_non_null(mkdtemp(dir));
    assert_int_equal(mkdir(path_of(""), 0755), 0);
    touch("17");
    touch("web.conf");
    touch("3web");
    domains_start(dir);
    return 0;
}

static int stop(void **state) {
    char command[96];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

static int setup(void **state) {
    (void)state;
    worker = (struct worker){
        .state = SERVING, .session.domid = DOMID, .spawned.stats = &stats, .next = NULL};
    pool = (struct pool){.workers = &worker};
    store_works = true;
    tries = 0;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    domains_forget(DOMID);
    pool.workers = NULL;
    domains_publish(&pool);
    return 0;
}

static void test_told_once(void **state) {
    (void)state;
    assert_true(domains_publish(&pool));
    assert_true(domains_publish(&pool));
    assert_int_equal(tries, 1);
    assert_int_equal(told_sessions, 1);
    assert_int_equal(told_pages, 130);
    assert_true(file_says("sessions 1\n"));
    pool.workers = NULL;
    assert_true(domains_publish(&pool));
    assert_int_equal(told_sessions, 0);
    assert_true(file_says("sessions 0\n"));
}

/* The last session's end, which nothing follows that would be told. */
static void test_refused_is_tried_again(void **state) {
    (void)state;
    assert_true(domains_publish(&pool));
    pool.workers = NULL;
    store_works = false;
    assert_false(domains_publish(&pool));
    assert_false(domains_publish(&pool));
    store_works = true;
    assert_true(domains_publish(&pool));
    assert_int_equal(told_sessions, 0);
    assert_int_equal(tries, 4);
}

static void test_file_is_tried_again(void **state) {
    (void)state;
    assert_true(domains_publish(&pool));
    pool.workers = NULL;
    assert_int_equal(mkdir(path_of(".5.new"), 0755), 0);
    assert_false(domains_publish(&pool));
    assert_int_equal(rmdir(path_of(".5.new")), 0);
    assert_true(domains_publish(&pool));
    assert_true(file_says("sessions 0\n"));
    assert_int_equal(tries, 2);
}

static void test_told_anew(void **state) {
    (void)state;
    assert_true(domains_publish(&pool));
    domains_tell_anew();
    assert_true(domains_publish(&pool));
    assert_int_equal(tries, 2);
}

/* Its own files only: an admin may have given it the policies' folder. */
static void test_start_clears_old_numbers(void **state) {
    (void)state;
    assert_int_equal(access(path_of("17"), F_OK), -1);
    assert_int_equal(access(path_of("web.conf"), F_OK), 0);
    assert_int_equal(access(path_of("3web"), F_OK), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_told_once), TEST(test_refused_is_tried_again),   TEST(test_file_is_tried_again),
        TEST(test_told_anew), TEST(test_start_clears_old_numbers),
    };

    return cmocka_run_group_tests_name("domains", tests, start, stop);
}
