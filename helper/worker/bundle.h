/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches that go to the driver several at a time. What a program launches in one stream faster
 * than the driver takes it, one by one, is held for as long as more of it stands in the ring, and
 * goes as chains (chains.h), which cost the driver less, where they do. Each thread that makes
 * calls has a bundle of its own.
 */
#ifndef VCUDA_WORKER_BUNDLE_H
#define VCUDA_WORKER_BUNDLE_H

#include <stdbool.h>
#include <stdint.h>

struct args_launch;
struct frame;
struct object;
struct worker;

/*
 * Takes a launch: it is made now, or by bundle_make() at the latest, and its error is told as those
 * of posted calls are. False: the caller makes it. What was taken before is made then.
 */
bool bundle_take(struct worker *w, const struct frame *f, const struct args_launch *a,
                 const struct object *function);

/*
 * The caller has made a launch of the function, of this name, in this context, without attributes:
 * its code is loaded, and the GPU has the memory for it, so that others of it may be taken.
 */
void bundle_may_have(struct worker *w, uint64_t name, uint64_t context,
                     const struct object *function);

/* How many this thread has taken. */
extern __thread uint32_t bundle_held;

void bundle_make_held(struct worker *w);

/* Makes what this thread has taken: before any other call, and before it looks for more in vain. */
static inline void bundle_make(struct worker *w) {
    if (bundle_held)
        bundle_make_held(w);
}

/* This thread had nothing to do: the GPU may wait for what it takes next. */
void bundle_begin(void);

/* The session's streams are not all alike for kernels: none is taken any more. */
void bundle_give_up(void);

#endif
