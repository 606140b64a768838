/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that this process gives to contexts, streams, events, modules and
 * functions (protocol/record.h), and what it knows of each.
 */
#ifndef VCUDA_USERLIB_NAMES_H
#define VCUDA_USERLIB_NAMES_H

#include <stdint.h>
#include "record.h"

/*
 * A new name for `object`, which names_end() gives back; 0 if there are too many.
 * Any thread.
 */
uint64_t names_new(enum vcuda_kind kind, void *object);

/* The object of a name; NULL for a stale, foreign or wild one. Any thread, no lock. */
void *names_get(enum vcuda_kind kind, uint64_t name);

/*
 * Ends a name that the worker knows no longer, or never knew: its object, now the caller's, or
 * NULL. A name that the worker still knows is retired, then its end is sent, then its place is
 * given back: else another thread's new name in the same place could overtake the end of this one.
 */
void *names_end(enum vcuda_kind kind, uint64_t name);

/* Nobody can look the name up any more, and no new one takes its place: its object, or NULL. */
void *names_retire(enum vcuda_kind kind, uint64_t name);

/* The place of a name that names_retire() ended may be used again. */
void names_reuse(enum vcuda_kind kind, uint64_t name);

/*
 * Ends all names of a kind for which `match` says true, after giving each object to `release`.
 */
void names_end_if(enum vcuda_kind kind, int (*match)(const void *object, const void *arg),
                  const void *arg, void (*release)(void *object));

#endif
