/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that this process gives to contexts, streams, events, modules and
 * functions (protocol/record.h), and what it knows of each.
 */
#ifndef VCUDA_USERLIB_NAMES_H
#define VCUDA_USERLIB_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barrier.h"
#include "likely.h"
#include "record.h"

/* Entries live in chunks that never move, so that a look-up needs no lock. */
#define NAMES_CHUNK 1024u
#define NAMES_CHUNKS ((VCUDA_NAME_INDEX_MAX + 1) / NAMES_CHUNK)

struct names_entry {
    uint64_t name; /* that is valid now; 0: none */
    void *object;
    uint32_t generation; /* of the last one */
    uint32_t next_free;  /* index + 1 */
};

extern struct names_entry *names_chunks[VCUDA_KIND_OF_WORKER][NAMES_CHUNKS];

/*
 * A new name for `object`, which names_end() gives back; 0 if there are too many.
 * Any thread.
 */
uint64_t names_new(enum vcuda_kind kind, void *object);

/*
 * The object of a name; NULL for a stale, foreign or wild one. Any thread, no lock. Here, since
 * every call looks for three or four.
 */
static inline void *names_get(enum vcuda_kind kind, uint64_t name) {
    uint32_t index = vcuda_name_index(name);
    struct names_entry *e;

    if (kind >= VCUDA_KIND_OF_WORKER)
        return NULL;
    e = vcuda_load_acquire(&names_chunks[kind][index / NAMES_CHUNK]);
    if (unlikely(!e))
        return NULL;
    e += index % NAMES_CHUNK;
    /* The whole name is compared, its kind with it. Entry 0 is never used: its object is NULL. */
    return likely(vcuda_load_acquire(&e->name) == name) ? e->object : NULL;
}

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

/* Whether this was a name once, and no longer is one. Any thread, no lock. */
bool names_ended(enum vcuda_kind kind, uint64_t name);

/* Whether `match` says true of any object of a kind. */
bool names_any(enum vcuda_kind kind, int (*match)(const void *object, const void *arg),
               const void *arg);

/*
 * The name after this one (0: the first) for whose object `match` says true, or 0. What begins or
 * ends between two such calls may be told of or not.
 */
uint64_t names_next(enum vcuda_kind kind, uint64_t name,
                    int (*match)(const void *object, const void *arg), const void *arg);

/*
 * Ends all names of a kind for which `match` says true, after giving each object to `release`.
 */
void names_end_if(enum vcuda_kind kind, int (*match)(const void *object, const void *arg),
                  const void *arg, void (*release)(void *object));

#endif
