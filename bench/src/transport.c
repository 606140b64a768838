// SPDX-License-Identifier: Apache-2.0
/*
 * usage: transport [ROUNDS]   What a call takes over vcuda and by other means, in turn.
 *
 * Busy: one waited call after the other, both sides looking for news without sleeping. Blocking:
 * the same, but both sides sleep in the kernel for news, as servers mostly do. Asleep: a pause
 * before each call that is longer than anybody looks, so that both sides must be woken. Posted:
 * launches one after the other, until the peer has the last.
 */
#include <time.h>

#include "bench.h"
#include "means.h"

#define BUSY_CALLS 500
#define ASLEEP_CALLS 20
#define POSTED_CALLS 1000
#define PAUSE_NS 2000000
#define MEANS_MAX 8

static struct means all[MEANS_MAX];
static int means_count, rounds = 20;
static const uint32_t params[] = {0, 64, 256, 1024, 4096};
#define PARAMS (sizeof(params) / sizeof(params[0]))

static struct {
    double *busy, *blocking, *asleep;
    double *posted[PARAMS];
} samples[MEANS_MAX];

static double *room(int count) {
    double *d = calloc((size_t)count, sizeof(*d));

    if (!d)
        means_fail("calloc");
    return d;
}

static double timed(struct means *m) {
    double begun = now();

    m->call(m);
    return (now() - begun) * 1e6;
}

static void turn(struct means *m, bool busy, uint32_t count) {
    if (m->turn)
        m->turn(m, busy, count);
}

/* Some calls come before those that are timed: the peer has to wake up for its turn. */
static void one_after_the_other(struct means *m, bool busy, double *to) {
    turn(m, busy, BUSY_CALLS + BUSY_CALLS / 10);
    for (int i = 0; i < BUSY_CALLS / 10; i++)
        m->call(m);
    for (int i = 0; i < BUSY_CALLS; i++)
        to[i] = timed(m);
}

static void asleep(int which, int round) {
    const struct timespec pause = {0, PAUSE_NS};
    struct means *m = &all[which];

    turn(m, false, ASLEEP_CALLS);
    for (int i = 0; i < ASLEEP_CALLS; i++) {
        nanosleep(&pause, NULL);
        samples[which].asleep[round * ASLEEP_CALLS + i] = timed(m);
    }
}

static void posted(int which, int round, size_t size) {
    struct means *m = &all[which];
    double begun;

    turn(m, true, POSTED_CALLS + 2);
    m->call(m);
    begun = now();
    for (int i = 0; i < POSTED_CALLS; i++)
        m->post(m, params[size]);
    m->call(m);
    samples[which].posted[size][round] = POSTED_CALLS / (now() - begun) / 1e3;
}

static void one_round(int round) {
    for (int i = 0; i < means_count; i++) {
        if (all[i].looks)
            one_after_the_other(&all[i], true, samples[i].busy + round * BUSY_CALLS);
        if (all[i].sleeps)
            one_after_the_other(&all[i], false, samples[i].blocking + round * BUSY_CALLS);
        if (!all[i].post)
            continue;
        asleep(i, round);
        for (size_t size = 0; size < PARAMS; size++)
            posted(i, round, size);
    }
}

static void print(int which) {
    const char *name = all[which].name;
    char figure[64];

    if (all[which].looks) {
        snprintf(figure, sizeof(figure), "waited call busy %s", name);
        report(figure, "us", samples[which].busy, rounds * BUSY_CALLS);
    }
    if (all[which].sleeps) {
        snprintf(figure, sizeof(figure), "waited call blocking %s", name);
        report(figure, "us", samples[which].blocking, rounds * BUSY_CALLS);
    }
    if (!all[which].post)
        return;
    snprintf(figure, sizeof(figure), "waited call asleep %s", name);
    report(figure, "us", samples[which].asleep, rounds * ASLEEP_CALLS);
    for (size_t size = 0; size < PARAMS; size++) {
        snprintf(figure, sizeof(figure), "posted %u bytes %s", params[size], name);
        report(figure, "1000/s", samples[which].posted[size], rounds);
    }
}

int main(int argc, char **argv) {
    if (argc > 1)
        rounds = atoi(argv[1]) > 0 ? atoi(argv[1]) : rounds;
    means_line(&all[means_count++]);
    means_tcp(&all[means_count++]);
    means_unix(&all[means_count++]);
    means_count += means_zmq(&all[means_count]);
    means_vcuda(&all[means_count++]);
    for (int i = 0; i < means_count; i++) {
        samples[i].busy = room(rounds * BUSY_CALLS);
        samples[i].blocking = room(rounds * BUSY_CALLS);
        samples[i].asleep = room(rounds * ASLEEP_CALLS);
        for (size_t size = 0; size < PARAMS; size++)
            samples[i].posted[size] = room(rounds);
    }
    for (int round = 0; round < rounds; round++)
        one_round(round);
    for (int i = 0; i < means_count; i++)
        print(i);
    return 0;
}
