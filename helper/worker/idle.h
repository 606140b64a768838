/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the GPU may have work of the session's: then a call that waits for that would hold up all
 * others, and goes to a waiter thread. Executor only.
 */
#ifndef VCUDA_WORKER_IDLE_H
#define VCUDA_WORKER_IDLE_H

#include <stdbool.h>
#include <stdint.h>

struct dispatch;
struct frame;
struct worker;

/* A record's call will be made. */
void idle_note(const struct dispatch *d, const struct frame *f);

/*
 * Whether a call just made has very likely left this stream at work: nobody has looked for the next
 * record in vain since. Once for each such call.
 */
bool idle_just_left(uint64_t stream);
/* There was no record at first sight. */
void idle_looked(void);

/*
 * Whether the GPU surely has nothing to do for the session, whose context of this name is made
 * current. Asks the driver for streams that were called in since it last said so.
 */
bool idle_now(struct worker *w, uint64_t context);

#endif
