/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes into the completion ring. The executor answers most calls, waiter
 * threads what they have made, and the driver's threads ask for the program's
 * functions: each writes for itself, under one lock. Nobody's news may depend on
 * the executor, which may stand in the driver until just these have had effect:
 * a stream's creation there can wait for a host function with the context locked.
 */
#ifndef VCUDA_WORKER_ANSWERS_H
#define VCUDA_WORKER_ANSWERS_H

#include <stdbool.h>

struct frame;
struct worker;

/*
 * Answers a frame's caller, or notes the error of a posted call. Waits for space in the ring.
 * Executor only.
 */
void answers_put(struct worker *w, struct frame *f);

/* The program has its answer without a record: wakes it if it sleeps. Any thread. */
void answers_wake(struct worker *w);

/* The same, but does not wait: false if the ring has no room for it now. Any thread. */
bool answers_try(struct worker *w, struct frame *f);

/* Whether the ring has room for any answer. Any thread. */
bool answers_have_room(struct worker *w);

/* Sends what was said (messages.h). Waits for space in the ring. Executor only. */
void answers_flush(struct worker *w);

/* The same, but leaves to the executor what the ring has no room for. Any thread. */
void answers_flush_now(struct worker *w);

#endif
