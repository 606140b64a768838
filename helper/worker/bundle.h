/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches that go to the driver several at a time. What a program launches in one stream faster
 * than the driver takes it, one by one, is held for as long as more of it stands in the ring, and
 * goes as chains (chains.h), which cost the driver less, where they do. Executor only.
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

/* How many it has taken. */
extern uint32_t bundle_held;

void bundle_make_held(struct worker *w);

/* Makes what was taken: before any other call, and before one looks for more in vain. */
static inline void bundle_make(struct worker *w) {
    if (bundle_held)
        bundle_make_held(w);
}

/* There was nothing to do: the GPU may wait for what is taken next. */
void bundle_begin(void);

/* The session's streams are not all alike for kernels: none is taken any more. */
void bundle_give_up(void);

#endif
