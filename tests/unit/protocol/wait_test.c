// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* Who is woken, and how often. */
#include "pair.h"

#define BOTH (VCUDA_WAIT_DATA | VCUDA_WAIT_SPACE)

CASE(awake_peers_are_left_alone) {
    struct pair p = pair_new();

    EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 0);
    EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_SPACE), 0);
    vcuda_wait_begin(&p.h, BOTH);
    vcuda_wait_end(&p.h);
    EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 0);
    EXPECT_EQ(p.side_h->wait, 0);
}

CASE(one_notification_for_each_sleep) {
    struct pair p = pair_new();
    int sleep;

    for (sleep = 0; sleep < 3; sleep++) {
        vcuda_wait_begin(&p.h, VCUDA_WAIT_DATA);
        EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 1);
        EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 0);
        EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 0);
        vcuda_wait_end(&p.h);
        EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 0);
    }
}

CASE(only_for_what_is_waited_for) {
    struct pair p = pair_new();

    vcuda_wait_begin(&p.h, VCUDA_WAIT_DATA);
    EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_SPACE), 0);
    EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 1);
    vcuda_wait_end(&p.h);

    vcuda_wait_begin(&p.h, VCUDA_WAIT_SPACE);
    EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 0);
    EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_SPACE), 1);
}

CASE(a_sleep_for_both_is_one_sleep) {
    struct pair p = pair_new();

    vcuda_wait_begin(&p.h, BOTH);
    EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_SPACE), 1);
    EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 0);
}

CASE(both_may_sleep) {
    struct pair p = pair_new();

    vcuda_wait_begin(&p.g, VCUDA_WAIT_DATA);
    vcuda_wait_begin(&p.h, VCUDA_WAIT_DATA);
    EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 1);
    EXPECT_EQ(vcuda_must_wake(&p.h, VCUDA_WAIT_DATA), 1);
}

/* Two sleeps that nobody had to end are two sleeps: the third is told apart. */
CASE(sleeps_without_a_wake_up) {
    struct pair p = pair_new();

    vcuda_wait_begin(&p.h, VCUDA_WAIT_DATA);
    EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 1);
    vcuda_wait_end(&p.h);
    vcuda_wait_begin(&p.h, VCUDA_WAIT_DATA);
    vcuda_wait_end(&p.h);
    vcuda_wait_begin(&p.h, VCUDA_WAIT_DATA);
    EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 1);
}

/* The epoch runs over without ever looking like "awake". */
CASE(epochs_run_over) {
    struct pair p = pair_new();
    int i;

    p.h.epoch = 0x3ffffffe;
    for (i = 0; i < 4; i++) {
        vcuda_wait_begin(&p.h, VCUDA_WAIT_DATA);
        EXPECT(p.side_h->wait >> 2 != 0);
        EXPECT_EQ(p.side_h->wait & 3, VCUDA_WAIT_DATA);
        EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 1);
        vcuda_wait_end(&p.h);
    }
    EXPECT_EQ(p.h.epoch, 3);
}

/* Even a wait word that changes all the time costs one notification a step. */
CASE(hostile_wait_words) {
    struct pair p = pair_new();
    __u32 i;

    for (i = 0; i < 1000; i++) {
        p.side_h->wait = i * 0x9e3779b9u | VCUDA_WAIT_DATA;
        EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 1);
        EXPECT_EQ(vcuda_must_wake(&p.g, VCUDA_WAIT_DATA), 0);
    }
}

#define CASES(X)                                                                                   \
    X(awake_peers_are_left_alone)                                                                  \
    X(one_notification_for_each_sleep)                                                             \
    X(only_for_what_is_waited_for)                                                                 \
    X(a_sleep_for_both_is_one_sleep)                                                               \
    X(both_may_sleep)                                                                              \
    X(sleeps_without_a_wake_up)                                                                    \
    X(epochs_run_over)                                                                             \
    X(hostile_wait_words)

SUITE(wait, CASES)
