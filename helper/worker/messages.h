/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the worker says to the program unasked (protocol/record.h, enum
 * vcuda_message). Any thread says; the executor, which alone writes into the
 * completion ring, sends.
 */
#ifndef VCUDA_WORKER_MESSAGES_H
#define VCUDA_WORKER_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

struct worker;

/*
 * Says something: `count` slots, then `len` bytes, whose length is the last slot (none: NULL, 0).
 * Any thread, the driver's too. False: out of memory, or longer than a record.
 */
bool messages_say(enum vcuda_message message, const uint64_t *slots, uint32_t count,
                  const void *bytes, uint32_t len);

/* Writes what was said into the ring. Executor only. */
void messages_send(struct worker *w);

/* Whether something was said that is not sent. */
bool messages_any(void);

#endif
