// SPDX-License-Identifier: Apache-2.0
/* The library and vcudactl against a real xenstored. */
#include "store.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

/* Each test uses domains of its own. */
static struct vcuda_policy policy_for(uint32_t gpu) {
    struct vcuda_policy policy;

    vcuda_policy_defaults(&policy);
    policy.gpus = (struct vcuda_gpus){.count = 2, .index = {gpu, gpu + 2}};
    return policy;
}

static void attach(uint32_t domid) {
    struct vcuda_policy policy = policy_for(0);

    assert_int_equal(vcuda_xs_attach(store_xs, domid, &policy), 0);
}

static int64_t now_ms(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void attach_writes_nodes_and_permissions(void **state) {
    static const char *const back[][2] = {
        {"frontend", "/local/domain/5/device/vcuda/0"},
        {"frontend-id", "5"},
        {"online", "1"},
        {"state", "1"},
        {"gpus", "0 2"},
        {"max-sessions", "64"},
        {"max-pages", "24576"},
        {"max-gpu-mib", "0"},
    };
    static const char *const front[][2] = {
        {"backend", "/local/domain/0/backend/vcuda/5/0"},
        {"backend-id", "0"},
        {"state", "1"},
    };

    (void)state;
    domain_create(5, "five");
    attach(5);
    assert_permissions(vcuda_path_back(5, NULL), "n0,r5");
    assert_permissions(vcuda_path_front(5, NULL), "n5,r0");
    for (size_t i = 0; i < sizeof(back) / sizeof(back[0]); i++) {
        assert_node(vcuda_path_back(5, back[i][0]), back[i][1]);
        assert_permissions(vcuda_path_back(5, back[i][0]), "n0,r5");
    }
    for (size_t i = 0; i < sizeof(front) / sizeof(front[0]); i++) {
        assert_node(vcuda_path_front(5, front[i][0]), front[i][1]);
        assert_permissions(vcuda_path_front(5, front[i][0]), "n5,r0");
    }
}

static void attach_twice_changes_nothing(void **state) {
    struct vcuda_policy other = policy_for(7);

    (void)state;
    domain_create(6, "six");
    attach(6);
    assert_int_equal(vcuda_xs_attach(store_xs, 6, &other), -EEXIST);
    assert_node(vcuda_path_back(6, "gpus"), "0 2");
}

static void attach_refuses_who_is_not_there(void **state) {
    struct vcuda_policy policy = policy_for(0);

    (void)state;
    assert_int_equal(vcuda_xs_attach(store_xs, 77, &policy), -ESRCH);
    assert_int_equal(vcuda_xs_attach(store_xs, 0, &policy), -EINVAL);
    assert_int_equal(vcuda_xs_attach(store_xs, VCUDA_DOMID_MAX + 1, &policy), -EINVAL);
    /* Being destroyed: its nodes went first, and must not come back. */
    domain_create(7, "seven");
    assert_true(xs_rm(store_xs, XBT_NULL, "/local/domain/7"));
    assert_int_equal(vcuda_xs_attach(store_xs, 7, &policy), -ESRCH);
    assert_node(vcuda_path_front(7, "state"), NULL);
    assert_node(vcuda_path_back(7, NULL), NULL);
}

/* The guest's driver went; the backend still has the device. */
static void attach_needs_a_detach_of_what_is_closed(void **state) {
    struct vcuda_policy policy = policy_for(0);

    (void)state;
    domain_create(18, "eighteen");
    attach(18);
    store_write(vcuda_path_back(18, "state"), "6");
    assert_int_equal(vcuda_xs_attach(store_xs, 18, &policy), -EEXIST);
    assert_int_equal(vcuda_xs_detach(18, 20000, false), 0);
    attach(18);
}

static void attach_clears_remains(void **state) {
    (void)state;
    domain_create(8, "eight");
    store_write(vcuda_path_back(8, "state"), "6");
    store_write(vcuda_path_back(8, "max-version"), "9");
    store_write(vcuda_path_front(8, "ctl-ring-ref"), "9");
    attach(8);
    assert_node(vcuda_path_back(8, "state"), "1");
    assert_node(vcuda_path_back(8, "max-version"), NULL);
    assert_node(vcuda_path_front(8, "ctl-ring-ref"), NULL);
}

static void detach_without_drivers_times_out(void **state) {
    (void)state;
    domain_create(9, "nine");
    attach(9);
    assert_int_equal(vcuda_xs_detach(9, 50, false), -ETIMEDOUT);
    assert_node(vcuda_path_back(9, "online"), "0");
    assert_node(vcuda_path_back(9, "state"), "5");
    assert_node(vcuda_path_front(9, "state"), "1");
    assert_int_equal(vcuda_xs_detach(9, 0, true), 0);
    assert_node(vcuda_path_back(9, NULL), NULL);
    assert_node(vcuda_path_front(9, NULL), NULL);
    assert_null(xs_read(store_xs, XBT_NULL, "/local/domain/9/device/vcuda", NULL));
    assert_null(xs_read(store_xs, XBT_NULL, "/local/domain/0/backend/vcuda/9", NULL));
    assert_node(vcuda_path_name(9), "nine");
    assert_int_equal(vcuda_xs_detach(9, 0, true), -ENOENT);
}

/* Both drivers: close, a moment after they are asked to. */
static void *close_when_asked(void *arg) {
    uint32_t domid = *(const uint32_t *)arg;
    struct xs_handle *xs = xs_open(0);
    struct vcuda_path state = vcuda_path_back(domid, "state");
    unsigned count;

    xs_watch(xs, state.s, "state");
    while (node_state(xs, XBT_NULL, state) != VCUDA_STATE_CLOSING)
        free(xs_read_watch(xs, &count));
    usleep(100000);
    node_write(xs, XBT_NULL, vcuda_path_front(domid, "state"), "6");
    node_write(xs, XBT_NULL, state, "6");
    xs_close(xs);
    return NULL;
}

static void detach_waits_for_closed(void **state) {
    uint32_t domid = 10;
    pthread_t drivers;
    int64_t start;

    (void)state;
    domain_create(domid, "ten");
    attach(domid);
    store_write(vcuda_path_back(domid, "state"), "4");
    assert_int_equal(pthread_create(&drivers, NULL, close_when_asked, &domid), 0);
    start = now_ms();
    assert_int_equal(vcuda_xs_detach(domid, 20000, false), 0);
    assert_in_range(now_ms() - start, 100, 10000);
    pthread_join(drivers, NULL);
    assert_node(vcuda_path_back(domid, NULL), NULL);
    attach(domid);
    assert_node(vcuda_path_dom0(domid, "detached"), NULL);
}

struct scribbler {
    uint32_t domid;
    volatile bool stop;
};

/* A guest that never stops writing into its folder. */
static void *scribble(void *arg) {
    struct scribbler *s = arg;
    struct xs_handle *xs = xs_open(0);
    struct vcuda_path path = vcuda_path_front(s->domid, "noise");

    while (!s->stop && node_exists(xs, XBT_NULL, vcuda_path_front(s->domid, "backend")))
        node_write(xs, XBT_NULL, path, "noise");
    xs_close(xs);
    return NULL;
}

static void detach_works_against_a_writing_guest(void **state) {
    struct scribbler s = {.domid = 11};
    pthread_t guest;

    (void)state;
    domain_create(11, "eleven");
    attach(11);
    assert_int_equal(pthread_create(&guest, NULL, scribble, &s), 0);
    assert_int_equal(vcuda_xs_detach(11, 0, true), 0);
    s.stop = true;
    pthread_join(guest, NULL);
    assert_node(vcuda_path_back(11, NULL), NULL);
}

static void detach_ends_when_the_guest_dies(void **state) {
    (void)state;
    domain_create(12, "twelve");
    attach(12);
    domain_destroy(12);
    assert_int_equal(vcuda_xs_detach(12, 20000, false), 0);
    assert_node(vcuda_path_back(12, NULL), NULL);
    assert_node(vcuda_path_dom0(12, NULL), NULL);
}

static void count_reaped(uint32_t domid, void *arg) {
    uint32_t *sum = arg;

    *sum += domid;
}

static void reap_takes_the_dead_only(void **state) {
    struct vcuda_usage usage = {.sessions = 2, .pages = 300};
    uint32_t sum = 0;

    (void)state;
    domain_create(13, "dead");
    domain_create(14, "alive");
    domain_create(15, "detached, then dead");
    attach(13);
    attach(14);
    attach(15);
    assert_int_equal(vcuda_xs_write_usage(store_xs, 13, &usage), 0);
    assert_int_equal(vcuda_xs_detach(15, 0, true), 0);
    domain_destroy(13);
    domain_destroy(15);
    assert_int_equal(vcuda_xs_reap(store_xs, count_reaped, &sum), 2);
    assert_int_equal(sum, 13 + 15);
    assert_null(xs_read(store_xs, XBT_NULL, "/local/domain/0/backend/vcuda/13", NULL));
    assert_null(xs_read(store_xs, XBT_NULL, "/local/domain/13", NULL));
    assert_node(vcuda_path_dom0(13, NULL), NULL);
    assert_node(vcuda_path_dom0(15, NULL), NULL);
    assert_node(vcuda_path_back(14, "state"), "1");
    assert_int_equal(vcuda_xs_reap(store_xs, NULL, NULL), 0);
}

static void usage_is_for_dom0_alone(void **state) {
    struct vcuda_usage usage = {.sessions = 3, .pages = 4096, .gpu_mib = 7}, seen;

    (void)state;
    domain_create(16, "sixteen");
    assert_int_equal(vcuda_xs_read_usage(store_xs, 16, &seen), -ENOENT);
    assert_int_equal(vcuda_xs_write_usage(store_xs, 16, &usage), 0);
    assert_int_equal(vcuda_xs_read_usage(store_xs, 16, &seen), 0);
    assert_int_equal(seen.sessions, 3);
    assert_int_equal(seen.pages, 4096);
    assert_int_equal(seen.gpu_mib, 7);
    assert_permissions(vcuda_path_dom0(16, NULL), "n0");
    assert_permissions(vcuda_path_dom0(16, "sessions"), "n0");
    assert_permissions(vcuda_path_dom0(16, "pages"), "n0");
    domain_destroy(16);
    assert_int_equal(vcuda_xs_reap(store_xs, NULL, NULL), 1);
    assert_int_equal(vcuda_xs_write_usage(store_xs, 16, &usage), -ESRCH);
    assert_node(vcuda_path_dom0(16, NULL), NULL);
}

/* Of those, too, that still exist; what else is noted of them stays. */
static void usage_is_forgotten(void **state) {
    struct vcuda_usage usage = {.sessions = 3, .pages = 4096, .gpu_mib = 7}, seen;

    (void)state;
    domain_create(26, "one");
    domain_create(27, "two");
    assert_int_equal(vcuda_xs_write_usage(store_xs, 26, &usage), 0);
    assert_int_equal(vcuda_xs_write_usage(store_xs, 27, &usage), 0);
    store_write(vcuda_path_dom0(27, "detached"), "1");
    assert_int_equal(vcuda_xs_forget_usage(store_xs), 0);
    assert_int_equal(vcuda_xs_read_usage(store_xs, 26, &seen), -ENOENT);
    assert_node(vcuda_path_dom0(26, NULL), NULL);
    assert_node(vcuda_path_dom0(27, "sessions"), NULL);
    assert_node(vcuda_path_dom0(27, "pages"), NULL);
    assert_node(vcuda_path_dom0(27, "gpu-mib"), NULL);
    assert_node(vcuda_path_dom0(27, "detached"), "1");
    domain_destroy(26);
    domain_destroy(27);
    assert_int_equal(vcuda_xs_reap(store_xs, NULL, NULL), 1);
    assert_node(vcuda_path_dom0(27, NULL), NULL);
}

static void reading_judges_what_is_there(void **state) {
    struct vcuda_back back;
    struct vcuda_front front;

    (void)state;
    domain_create(17, "seventeen");
    assert_int_equal(vcuda_xs_read_back(store_xs, 17, &back), 0);
    assert_int_equal(back.state, VCUDA_STATE_UNKNOWN);
    attach(17);
    assert_int_equal(vcuda_xs_read_back(store_xs, 17, &back), 0);
    assert_int_equal(back.state, VCUDA_STATE_INITIALISING);
    assert_true(back.online);
    assert_false(back.offers);
    assert_int_equal(back.policy.gpus.count, 2);
    assert_int_equal(back.policy.max_pages, VCUDA_PAGES_DEFAULT);
    store_write(vcuda_path_back(17, "min-version"), "1");
    store_write(vcuda_path_back(17, "max-version"), "3");
    store_write(vcuda_path_back(17, "features"), "31");
    assert_int_equal(vcuda_xs_read_back(store_xs, 17, &back), 0);
    assert_true(back.offers);
    assert_int_equal(back.features, 0x1f);

    store_write(vcuda_path_front(17, "version"), "1");
    store_write(vcuda_path_front(17, "features"), "0");
    store_write(vcuda_path_front(17, "ctl-ring-ref"), "8");
    store_write(vcuda_path_front(17, "event-channel"), "99999999999999999999");
    store_write(vcuda_path_front(17, "state"), "4; rm -rf /");
    assert_int_equal(vcuda_xs_read_front(store_xs, 17, &front), 0);
    assert_true(front.present);
    assert_true(front.agreed);
    assert_false(front.wired);
    assert_int_equal(front.state, VCUDA_STATE_UNKNOWN);
}

struct disturbed {
    struct xs_handle *other;
    int times, left, runs;
};

/* Somebody else writes the node that the transaction has read. */
static int disturbed_step(struct xs_handle *xs, xs_transaction_t t, void *arg) {
    struct disturbed *d = arg;
    struct vcuda_path node = vcuda_path_dom0(20000, "disturbed");

    d->runs++;
    node_exists(xs, t, node);
    if (d->left) {
        d->left--;
        node_write(d->other, XBT_NULL, node, "theirs");
    }
    return node_write(xs, t, node, "ours");
}

static void transactions_are_tried_again_with_a_bound(void **state) {
    struct disturbed some = {.other = xs_open(0), .left = 3};
    struct disturbed always = {.other = some.other, .left = 1000000};

    (void)state;
    assert_int_equal(transaction_run(store_xs, disturbed_step, &some), 0);
    assert_int_equal(some.runs, 4);
    assert_node(vcuda_path_dom0(20000, "disturbed"), "ours");
    assert_int_equal(transaction_run(store_xs, disturbed_step, &always), -EBUSY);
    assert_node(vcuda_path_dom0(20000, "disturbed"), "theirs");
    assert_int_equal(notes_remove(store_xs, XBT_NULL, 20000), 0);
    xs_close(some.other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attach_writes_nodes_and_permissions),
        cmocka_unit_test(attach_twice_changes_nothing),
        cmocka_unit_test(attach_refuses_who_is_not_there),
        cmocka_unit_test(attach_needs_a_detach_of_what_is_closed),
        cmocka_unit_test(attach_clears_remains),
        cmocka_unit_test(detach_without_drivers_times_out),
        cmocka_unit_test(detach_waits_for_closed),
        cmocka_unit_test(detach_works_against_a_writing_guest),
        cmocka_unit_test(detach_ends_when_the_guest_dies),
        cmocka_unit_test(reap_takes_the_dead_only),
        cmocka_unit_test(usage_is_for_dom0_alone),
        cmocka_unit_test(usage_is_forgotten),
        cmocka_unit_test(reading_judges_what_is_there),
        cmocka_unit_test(transactions_are_tried_again_with_a_bound),
    };

    return cmocka_run_group_tests_name("store", tests, store_start, store_stop);
}
