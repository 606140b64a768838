/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own memory that it has registered. */
#ifndef VCUDA_USERLIB_REGISTER_H
#define VCUDA_USERLIB_REGISTER_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"

/* The registration that holds all of [p, p + bytes), where the device reaches it. */
bool register_find(const void *p, size_t bytes, struct arena_block *block);

/* Whether p is registered, but the device does not reach it. */
bool register_only_noted(const void *p);

/*
 * A child of fork has memory of its own in place of what its parent shares with the worker: as it
 * was at the fork. The two calls bracket it; the second one in parent and child.
 */
void register_before_fork(void);
void register_after_fork(bool in_child);

#endif
