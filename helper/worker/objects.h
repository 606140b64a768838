/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session's table of names: the guest's number on one side, the driver's
 * handle on the other. No handle leaves the worker, no number is believed.
 * Any thread.
 */
#ifndef VCUDA_WORKER_OBJECTS_H
#define VCUDA_WORKER_OBJECTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "barrier.h"
#include "record.h"

struct object {
    void *native;
    uint64_t owner; /* name of what it ends with: a context, or a function's module; 0: nothing */
    uint64_t aux;   /* function: bytes of its parameters; primary context: 1 + device; memory: how
                       many handles of it the guest holds; node: what its function ends with */
    uint64_t also_owner; /* what a library has in a context ends with that context too */
};

struct slot;

#define OBJECTS_PIECES 15

struct objects {
    pthread_mutex_t lock;
    struct {
        struct slot *pieces[OBJECTS_PIECES]; /* of the table; those that there are */
        uint32_t room;                       /* places in all of them */
        uint32_t made;                       /* how many there have been */
        uint32_t ended;                      /* how many of them have ended */
        uint32_t free; /* of a kind that the worker names: where to look for a free slot */
        void *names;   /* by the driver's handle (tsearch) */
    } kinds[VCUDA_KIND_MAX];
};

void objects_init(struct objects *o);
/* Whether a guest may give that name to an object: well formed, of a kind it names, and free. */
bool objects_may_add(struct objects *o, enum vcuda_kind kind, uint64_t name);
/* False: not free, out of memory, or what it would end with has ended while it was made. */
bool objects_add(struct objects *o, uint64_t name, const struct object *object);
/*
 * The name of a driver's object of a kind that the worker names: the one it has, or a new one. 0:
 * out of memory, or it would end with what has ended.
 */
uint64_t objects_name(struct objects *o, enum vcuda_kind kind, const struct object *object);
/* One hold more on the object of a driver's handle, in aux: false if it has no name. */
bool objects_hold(struct objects *o, enum vcuda_kind kind, void *native);
/* One hold less; the last one ends the name. False for a name that is none. */
bool objects_drop(struct objects *o, uint64_t name);
/* Changes an object's aux: what it was; 0 for a name that is none. */
uint64_t objects_change_aux(struct objects *o, uint64_t name, uint64_t aux);
bool objects_get(struct objects *o, enum vcuda_kind kind, uint64_t name, struct object *object);
/* How many of a kind there have been. */
uint32_t objects_made(struct objects *o, enum vcuda_kind kind);
/* How many of them have ended: as long as that stays, whatever had a name has it. */
static inline uint32_t objects_ended(const struct objects *o, enum vcuda_kind kind) {
    return vcuda_load_acquire(&o->kinds[kind].ended);
}
/* The name of a driver's object of a kind that the guest names, or 0. Looks at all of them. */
uint64_t objects_find(struct objects *o, enum vcuda_kind kind, const void *native);
/* An object belongs to another owner now. */
void objects_give(struct objects *o, uint64_t name, uint64_t owner);
/* The same of a kind that the worker names, or only notes: at once. */
uint64_t objects_known(struct objects *o, enum vcuda_kind kind, void *native);
/* Ends a name and all that it owns. */
void objects_end(struct objects *o, uint64_t name);
/* Ends the name that a driver's object has, if it has one, and all that it owns. */
void objects_end_native(struct objects *o, enum vcuda_kind kind, void *native);
/* Ends the name of a device's primary context and all that it owns: that name, or 0: none. */
uint64_t objects_end_primary(struct objects *o, uint64_t device);

#endif
