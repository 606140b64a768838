/* SPDX-License-Identifier: Apache-2.0 */
/* What the library remembers of objects that the worker names: graphs, their nodes, executables. */
#ifndef VCUDA_USERLIB_NOTES_H
#define VCUDA_USERLIB_NOTES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Remembers `data` of a name, in place of what was remembered before. It ends with its owner (a
 * name, or 0), and is then given to `release` (NULL: nothing to do). False: out of memory.
 */
bool notes_set(uint64_t name, uint64_t owner, void *data, void (*release)(void *data));

/* The same of what the note ends with, but what is remembered stays. False: out of memory. */
bool notes_give(uint64_t name, uint64_t owner);
/* What the note ends with: a name, or 0. */
uint64_t notes_owner(uint64_t name);

/* Whether there is a note of that name. Any thread. */
bool notes_has(uint64_t name);

/* Its data, or NULL; good until the note ends. */
void *notes_get(uint64_t name);

/* Ends a note and all that it owns; 0: nothing. */
void notes_end(uint64_t name);

#endif
