// SPDX-License-Identifier: Apache-2.0
#include "objects.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* More live objects of one kind than this are refused: the table is the worker's memory. */
#define INDEX_MAX ((1u << 20) - 1)

struct slot {
    uint64_t name; /* 0: free */
    uint32_t generation;
    bool owns; /* some object was given to it: who owns nothing ends without a search */
    struct object object;
};

/* From a driver's handle back to the worker's name. */
struct known {
    void *native;
    uint64_t name;
};

static int by_native(const void *a, const void *b) {
    const struct known *x = a, *y = b;

    return x->native < y->native ? -1 : x->native > y->native;
}

void objects_init(struct objects *o) {
    memset(o, 0, sizeof(*o));
    pthread_mutex_init(&o->lock, NULL);
}

/* The slot that a name would have; NULL if the table does not reach so far. */
static struct slot *slot_of(struct objects *o, uint64_t name) {
    uint32_t kind = vcuda_name_kind(name), index = vcuda_name_index(name);

    if (!kind || kind >= VCUDA_KIND_MAX || index >= o->kinds[kind].room)
        return NULL;
    return &o->kinds[kind].slots[index];
}

static bool reach(struct objects *o, uint64_t name) {
    uint32_t kind = vcuda_name_kind(name), index = vcuda_name_index(name), room;
    struct slot *slots;

    if (index < o->kinds[kind].room)
        return true;
    if (index > INDEX_MAX)
        return false;
    room = o->kinds[kind].room ? o->kinds[kind].room : 64;
    while (room <= index)
        room *= 2;
    slots = realloc(o->kinds[kind].slots, room * sizeof(*slots));
    if (!slots)
        return false;
    memset(slots + o->kinds[kind].room, 0, (room - o->kinds[kind].room) * sizeof(*slots));
    o->kinds[kind].slots = slots;
    o->kinds[kind].room = room;
    return true;
}

bool objects_may_add(struct objects *o, enum vcuda_kind kind, uint64_t name) {
    struct slot *s;
    bool ok;

    if (vcuda_name_kind(name) != kind || kind >= VCUDA_KIND_OF_WORKER)
        return false;
    pthread_mutex_lock(&o->lock);
    s = slot_of(o, name);
    ok = !s || !s->name;
    pthread_mutex_unlock(&o->lock);
    return ok;
}

/* Under the lock: an object has this owner. */
static void note_owner(struct objects *o, uint64_t owner) {
    struct slot *s = slot_of(o, owner);

    if (s && s->name == owner)
        s->owns = true;
}

bool objects_add(struct objects *o, uint64_t name, const struct object *object) {
    bool ok;

    pthread_mutex_lock(&o->lock);
    ok = reach(o, name);
    if (ok) {
        struct slot *s = slot_of(o, name);

        ok = !s->name;
        if (ok) {
            *s = (struct slot){name, 0, false, *object};
            note_owner(o, object->owner);
            note_owner(o, object->also_owner);
        }
    }
    pthread_mutex_unlock(&o->lock);
    return ok;
}

bool objects_get(struct objects *o, enum vcuda_kind kind, uint64_t name, struct object *object) {
    struct slot *s;
    bool ok;

    if (vcuda_name_kind(name) != kind)
        return false;
    pthread_mutex_lock(&o->lock);
    s = slot_of(o, name);
    ok = s && s->name == name;
    if (ok)
        *object = s->object;
    pthread_mutex_unlock(&o->lock);
    return ok;
}

/* Under the lock: a name for a new object, in a slot of its own; NULL: out of memory. */
static struct slot *new_slot(struct objects *o, enum vcuda_kind kind) {
    uint32_t index = o->kinds[kind].free;
    struct slot *s;

    while (index < o->kinds[kind].room && o->kinds[kind].slots[index].name)
        index++;
    if (!reach(o, vcuda_name(kind, 0, index)))
        return NULL;
    o->kinds[kind].free = index + 1;
    s = &o->kinds[kind].slots[index];
    s->generation = (s->generation + 1) & 0xffff;
    s->name = vcuda_name(kind, s->generation, index);
    s->owns = false;
    return s;
}

uint64_t objects_name(struct objects *o, enum vcuda_kind kind, const struct object *object) {
    struct known *fresh = malloc(sizeof(*fresh)), **found;
    uint64_t name = 0;
    struct slot *s;

    if (!fresh)
        return 0;
    fresh->native = object->native;
    pthread_mutex_lock(&o->lock);
    found = tsearch(fresh, &o->kinds[kind].names, by_native);
    if (found && *found != fresh) {
        name = (*found)->name;
    } else if (found) {
        s = new_slot(o, kind);
        if (s) {
            s->object = *object;
            note_owner(o, object->owner);
            note_owner(o, object->also_owner);
            fresh->name = name = s->name;
            fresh = NULL;
        } else {
            tdelete(fresh, &o->kinds[kind].names, by_native);
        }
    }
    pthread_mutex_unlock(&o->lock);
    free(fresh);
    return name;
}

/* Under the lock: the slot is free again. */
static void end_slot(struct objects *o, uint32_t kind, uint32_t index) {
    struct slot *s = &o->kinds[kind].slots[index];
    struct known key = {.native = s->object.native}, **found, *known;

    s->name = 0;
    found = tfind(&key, &o->kinds[kind].names, by_native);
    if (found) { /* of a kind that the worker names */
        known = *found;
        tdelete(&key, &o->kinds[kind].names, by_native);
        free(known);
    }
    if (index < o->kinds[kind].free)
        o->kinds[kind].free = index;
}

/*
 * Under the lock. Depth: context, module, function; graphs within graphs are as deep as the driver
 * lets them be.
 */
static void end_owned(struct objects *o, uint64_t owner) {
    for (int kind = 1; kind < VCUDA_KIND_MAX; kind++) {
        for (uint32_t i = 0; i < o->kinds[kind].room; i++) {
            struct slot *s = &o->kinds[kind].slots[i];

            if (s->name && (s->object.owner == owner || s->object.also_owner == owner)) {
                uint64_t name = s->name;
                bool more = s->owns;

                end_slot(o, (uint32_t)kind, i);
                if (more)
                    end_owned(o, name);
            }
        }
    }
}

uint64_t objects_find(struct objects *o, enum vcuda_kind kind, const void *native) {
    uint64_t name = 0;

    pthread_mutex_lock(&o->lock);
    for (uint32_t i = 0; i < o->kinds[kind].room && !name; i++) {
        const struct slot *s = &o->kinds[kind].slots[i];

        if (s->name && s->object.native == native)
            name = s->name;
    }
    pthread_mutex_unlock(&o->lock);
    return name;
}

void objects_give(struct objects *o, uint64_t name, uint64_t owner) {
    struct slot *s;

    pthread_mutex_lock(&o->lock);
    s = slot_of(o, name);
    if (s && s->name == name) {
        s->object.owner = owner;
        note_owner(o, owner);
    }
    pthread_mutex_unlock(&o->lock);
}

void objects_end(struct objects *o, uint64_t name) {
    uint32_t kind = vcuda_name_kind(name);
    struct slot *s;

    pthread_mutex_lock(&o->lock);
    s = slot_of(o, name);
    if (s && s->name == name) {
        bool more = s->owns;

        end_slot(o, kind, vcuda_name_index(name));
        if (more)
            end_owned(o, name);
    }
    pthread_mutex_unlock(&o->lock);
}

uint64_t objects_known(struct objects *o, enum vcuda_kind kind, void *native) {
    struct known key = {.native = native}, **found;
    uint64_t name;

    pthread_mutex_lock(&o->lock);
    found = tfind(&key, &o->kinds[kind].names, by_native);
    name = found ? (*found)->name : 0;
    pthread_mutex_unlock(&o->lock);
    return name;
}

void objects_end_native(struct objects *o, enum vcuda_kind kind, void *native) {
    objects_end(o, objects_known(o, kind, native));
}

bool objects_hold(struct objects *o, enum vcuda_kind kind, void *native) {
    struct known key = {.native = native}, **found;

    pthread_mutex_lock(&o->lock);
    found = tfind(&key, &o->kinds[kind].names, by_native);
    if (found)
        slot_of(o, (*found)->name)->object.aux++;
    pthread_mutex_unlock(&o->lock);
    return found != NULL;
}

bool objects_drop(struct objects *o, uint64_t name) {
    struct slot *s;
    bool ok;

    pthread_mutex_lock(&o->lock);
    s = slot_of(o, name);
    ok = s && s->name == name;
    if (ok && --s->object.aux == 0)
        end_slot(o, vcuda_name_kind(name), vcuda_name_index(name));
    pthread_mutex_unlock(&o->lock);
    return ok;
}

uint64_t objects_end_primary(struct objects *o, uint64_t device) {
    uint64_t name = 0;

    pthread_mutex_lock(&o->lock);
    for (uint32_t i = 0; i < o->kinds[VCUDA_KIND_CONTEXT].room; i++) {
        struct slot *s = &o->kinds[VCUDA_KIND_CONTEXT].slots[i];

        if (s->name && s->object.aux == 1 + device) {
            name = s->name;
            end_slot(o, VCUDA_KIND_CONTEXT, i);
            end_owned(o, name);
        }
    }
    pthread_mutex_unlock(&o->lock);
    return name;
}
