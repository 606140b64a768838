/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors that stand for device memory. One is an end of a socket pair, in whose queue a
 * message with a token lies: it can be looked at as often as wanted, duplicated, inherited and
 * passed on, as the driver's own can. The library keeps the other end, and sees by it when the last
 * copy is closed; nothing is done for that until somebody sweeps.
 */
#ifndef VCUDA_USERLIB_DESCRIPTOR_H
#define VCUDA_USERLIB_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "info.h"

struct thread;

enum descriptor_kind {
    DESCRIPTOR_NONE = 0,
    DESCRIPTOR_MEMORY = 1,
    DESCRIPTOR_POOL = 2,
};

struct descriptor_token {
    uint8_t bytes[VCUDA_SHARE_TOKEN_BYTES];
};

/* The descriptor, which is the program's; -1: it can have no more. */
int descriptor_make(enum descriptor_kind kind, const struct descriptor_token *token);
/* What it stands for; DESCRIPTOR_NONE: it is no such descriptor, and the token as it was. */
enum descriptor_kind descriptor_read(int fd, struct descriptor_token *token);

/* Withdraws the tokens whose descriptors are closed everywhere: false if there is none. */
bool descriptor_sweep(struct thread *t);

#endif
