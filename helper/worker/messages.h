/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the worker says to the program unasked (protocol/record.h, enum
 * vcuda_message), until it is sent (answers.h).
 */
#ifndef VCUDA_WORKER_MESSAGES_H
#define VCUDA_WORKER_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

/* One that waits. */
struct message {
    uint32_t len;
    uint64_t record[]; /* whole, as it goes into the ring */
};

/*
 * Says something: `count` slots, then `len` bytes, whose length is the last slot (none: NULL, 0).
 * Any thread, the driver's too; it is sent with the next answer, or by answers_flush*(). False: out
 * of memory, or longer than a record.
 */
bool messages_say(enum vcuda_message message, const uint64_t *slots, uint32_t count,
                  const void *bytes, uint32_t len);

/* Whether something was said that is not sent. Any thread. */
bool messages_any(void);

/* The oldest that is not sent, until messages_sent(); NULL: none. One thread at a time. */
const struct message *messages_first(void);
void messages_sent(void);

#endif
