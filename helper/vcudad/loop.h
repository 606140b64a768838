/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main loop: descriptors and timers, one thread.
 *
 * Errors to set up a source end the program: without it nothing would work.
 */
#ifndef VCUDAD_LOOP_H
#define VCUDAD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop_source {
    /* events: EPOLL*. May remove and free this source or any other. */
    void (*ready)(struct loop_source *source, uint32_t events);
};

struct loop_timer {
    void (*fire)(struct loop_timer *timer);
    uint64_t at; /* 0: not set */
    bool known;
    struct loop_timer *next;
};

/* Both live until their removal or, timers, until the program's end. */
void loop_add(int fd, struct loop_source *source, uint32_t events);
void loop_remove(int fd);

/* Fires once, ms from now; replaces an earlier setting. */
void loop_timer_set(struct loop_timer *timer, uint64_t ms);
void loop_timer_clear(struct loop_timer *timer);

/* Monotonic milliseconds. */
uint64_t loop_now(void);

/* Ends what sleeps for a peer's sake, see loop.c; for a forked process, whose timers are its own.
 */
void loop_nudge(bool on);

/* Runs until loop_quit(). SIGALRM is its own; a handler's calls may be interrupted by it. */
void loop_run(void);
void loop_quit(void);

#endif
