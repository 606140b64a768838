// SPDX-License-Identifier: Apache-2.0
/* The keeper, against a real xenstored: domains come, get names, and go. */
#include "store.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* What the keeper said last. */
struct heard {
    unsigned count;
    enum vcuda_keeper_event event;
    uint32_t domid;
    int error;
    char why[160];
};

static char policy_dir[80];
static struct heard heard;
static struct vcuda_keeper *keeper;

static void hear(enum vcuda_keeper_event event, uint32_t domid, int error, const char *why,
                 void *arg) {
    struct heard *h = arg;

    h->count++;
    h->event = event;
    h->domid = domid;
    h->error = error;
    snprintf(h->why, sizeof(h->why), "%s", why);
}

/* Lets the keeper work until it has been quiet for a while. */
static void settle(void) {
    struct pollfd pfd = {.fd = vcuda_keeper_fd(keeper), .events = POLLIN};

    memset(&heard, 0, sizeof(heard));
    while (poll(&pfd, 1, 200) > 0)
        assert_int_equal(vcuda_keeper_step(keeper), 0);
}

static void assert_heard(enum vcuda_keeper_event event, uint32_t domid) {
    assert_int_equal(heard.count, 1);
    assert_int_equal(heard.event, event);
    assert_int_equal(heard.domid, domid);
}

static void store_policy(const char *name) {
    struct vcuda_policy policy;

    vcuda_policy_defaults(&policy);
    policy.max_sessions = 3;
    assert_int_equal(vcuda_policy_store(policy_dir, name, &policy), 0);
}

static int open_keeper(void **state) {
    (void)state;
    keeper = vcuda_keeper_open(policy_dir, hear, &heard);
    return keeper ? 0 : -1;
}

static int close_keeper(void **state) {
    (void)state;
    vcuda_keeper_close(keeper);
    return 0;
}

static int start(void **state) {
    int err = store_start(state);

    snprintf(policy_dir, sizeof(policy_dir), "%s/policy", store_dir);
    return err;
}

static void without_policy_nothing_happens(void **state) {
    (void)state;
    domain_create(20, "plain");
    settle();
    assert_int_equal(heard.count, 0);
    assert_node(vcuda_path_back(20, NULL), NULL);
}

static void domain_with_policy_is_attached(void **state) {
    (void)state;
    store_policy("web");
    settle();
    domain_create(21, "web");
    settle();
    assert_heard(VCUDA_KEEPER_ATTACHED, 21);
    assert_node(vcuda_path_back(21, "max-sessions"), "3");
}

static void existing_domain_is_attached_at_start(void **state) {
    (void)state;
    store_policy("early");
    domain_create(22, "early");
    settle();
    assert_heard(VCUDA_KEEPER_ATTACHED, 22);
}

static void name_may_come_later(void **state) {
    (void)state;
    store_policy("late");
    settle();
    domain_create(23, NULL);
    settle();
    assert_int_equal(heard.count, 0);
    store_write(vcuda_path_name(23), "late");
    settle();
    assert_heard(VCUDA_KEEPER_ATTACHED, 23);
}

static void domain_that_migrates_in_is_attached(void **state) {
    (void)state;
    store_policy("moving");
    settle();
    domain_create(24, "moving--incoming");
    settle();
    assert_heard(VCUDA_KEEPER_ATTACHED, 24);
}

static void detached_by_hand_stays_detached(void **state) {
    (void)state;
    store_policy("held");
    domain_create(25, "held");
    settle();
    assert_heard(VCUDA_KEEPER_ATTACHED, 25);
    assert_int_equal(vcuda_xs_detach(25, 0, true), 0);
    domain_create(26, "somebody else");
    settle();
    assert_int_equal(heard.count, 0);
    assert_node(vcuda_path_back(25, NULL), NULL);
}

static void bad_policy_is_told(void **state) {
    char path[128];
    FILE *file;

    (void)state;
    snprintf(path, sizeof(path), "%s/bad.conf", policy_dir);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("gpus = 0\nmax-sessions = many\n", file);
    fclose(file);
    settle();
    domain_create(27, "bad");
    settle();
    assert_heard(VCUDA_KEEPER_FAILED, 27);
    assert_int_equal(heard.error, -EINVAL);
    assert_string_equal(heard.why, "its policy, line 2: max-sessions: not a valid value");
    assert_int_equal(unlink(path), 0);
}

static void dead_domain_is_reaped(void **state) {
    (void)state;
    store_policy("mortal");
    domain_create(28, "mortal");
    settle();
    assert_heard(VCUDA_KEEPER_ATTACHED, 28);
    domain_destroy(28);
    settle();
    assert_heard(VCUDA_KEEPER_REAPED, 28);
    assert_node(vcuda_path_back(28, NULL), NULL);
}

/* Who keeps more of a domain than its device hears of the end of this one, too. */
static void domain_that_dies_detached_is_told(void **state) {
    (void)state;
    domain_create(33, "leaver");
    settle();
    assert_int_equal(vcuda_xs_attach(store_xs, 33, &(struct vcuda_policy){.gpus.count = 1}), 0);
    assert_int_equal(vcuda_xs_detach(33, 0, true), 0);
    domain_destroy(33);
    settle();
    assert_heard(VCUDA_KEEPER_REAPED, 33);
    assert_node(vcuda_path_dom0(33, NULL), NULL);
}

static void dead_domain_is_reaped_at_start(void **state) {
    (void)state;
    store_policy("mortal");
    domain_create(29, "mortal");
    settle();
    vcuda_keeper_close(keeper);
    domain_destroy(29);
    assert_int_equal(open_keeper(NULL), 0);
    settle();
    assert_heard(VCUDA_KEEPER_REAPED, 29);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_policy_nothing_happens, open_keeper, close_keeper),
        cmocka_unit_test_setup_teardown(domain_with_policy_is_attached, open_keeper, close_keeper),
        cmocka_unit_test_setup_teardown(existing_domain_is_attached_at_start, open_keeper,
                                        close_keeper),
        cmocka_unit_test_setup_teardown(name_may_come_later, open_keeper, close_keeper),
        cmocka_unit_test_setup_teardown(domain_that_migrates_in_is_attached, open_keeper,
                                        close_keeper),
        cmocka_unit_test_setup_teardown(detached_by_hand_stays_detached, open_keeper, close_keeper),
        cmocka_unit_test_setup_teardown(bad_policy_is_told, open_keeper, close_keeper),
        cmocka_unit_test_setup_teardown(dead_domain_is_reaped, open_keeper, close_keeper),
        cmocka_unit_test_setup_teardown(domain_that_dies_detached_is_told, open_keeper,
                                        close_keeper),
        cmocka_unit_test_setup_teardown(dead_domain_is_reaped_at_start, open_keeper, close_keeper),
    };

    return cmocka_run_group_tests_name("keeper", tests, start, store_stop);
}
