/* SPDX-License-Identifier: Apache-2.0 */
/* Times of single calls, and what is said of them: a line "best_ns=N p50_ns=N p99_ns=N mean_ns=N".
 */
#ifndef VCUDA_TESTS_LAB_SAMPLES_H
#define VCUDA_TESTS_LAB_SAMPLES_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../../protocol/clock.h"

struct samples {
    long *ns;
    long count, room;
};

/* By the processor's counter: the system's clock is a system call in these guests. */
static inline long samples_now_ns(void) {
    return (long)vcuda_now_ns();
}

/* Until that second of the day, which the guests of one host agree on: programs in several of them
 * begin together. Ends the program when it is over already. 0: at once. */
static inline void samples_sleep_until(long second) {
    struct timespec at = {.tv_sec = second};

    if (second && time(NULL) >= second) {
        fprintf(stderr, "too late to begin together\n");
        exit(1);
    }
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL);
}

/* Room for `room` samples, touched already: no page fault is measured. Ends the program without
 * memory. */
static inline void samples_init(struct samples *s, long room) {
    vcuda_clock_start();
    s->ns = malloc((size_t)room * sizeof(*s->ns));
    if (!s->ns)
        exit(1);
    for (long i = 0; i < room; i++)
        s->ns[i] = -1;
    s->count = 0;
    s->room = room;
}

/* What began at begun_ns has ended. */
static inline void samples_add(struct samples *s, long begun_ns) {
    if (s->count < s->room)
        s->ns[s->count++] = samples_now_ns() - begun_ns;
}

static inline int samples_order(const void *a, const void *b) {
    long x = *(const long *)a, y = *(const long *)b;

    return (x > y) - (x < y);
}

/* At least one sample. */
static inline void samples_print(struct samples *s) {
    double sum = 0;

    qsort(s->ns, (size_t)s->count, sizeof(*s->ns), samples_order);
    for (long i = 0; i < s->count; i++)
        sum += (double)s->ns[i];
    printf("best_ns=%ld p50_ns=%ld p99_ns=%ld mean_ns=%.0f\n", s->ns[0], s->ns[s->count / 2],
           s->ns[s->count * 99 / 100], sum / (double)s->count);
    fflush(stdout);
}

#endif
