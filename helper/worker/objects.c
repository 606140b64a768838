// SPDX-License-Identifier: Apache-2.0
#include "objects.h"

#include <stdlib.h>
#include <string.h>

/* More live objects of one kind than this are refused: the table is the worker's memory. */
#define INDEX_MAX ((1u << 20) - 1)

struct slot {
    uint64_t name; /* 0: free */
    struct object object;
};

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

    if (vcuda_name_kind(name) != kind)
        return false;
    pthread_mutex_lock(&o->lock);
    s = slot_of(o, name);
    ok = !s || !s->name;
    pthread_mutex_unlock(&o->lock);
    return ok;
}

bool objects_add(struct objects *o, uint64_t name, const struct object *object) {
    bool ok;

    pthread_mutex_lock(&o->lock);
    ok = reach(o, name);
    if (ok) {
        struct slot *s = slot_of(o, name);

        ok = !s->name;
        if (ok)
            *s = (struct slot){name, *object};
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

/* Under the lock. Depth is at most three: context, module, function. */
static void end_owned(struct objects *o, uint64_t owner) {
    for (int kind = 1; kind < VCUDA_KIND_MAX; kind++) {
        for (uint32_t i = 0; i < o->kinds[kind].room; i++) {
            struct slot *s = &o->kinds[kind].slots[i];

            if (s->name && s->object.owner == owner) {
                uint64_t name = s->name;

                s->name = 0;
                if (kind == VCUDA_KIND_MODULE || kind == VCUDA_KIND_LIBRARY)
                    end_owned(o, name);
            }
        }
    }
}

void objects_end(struct objects *o, uint64_t name) {
    uint32_t kind = vcuda_name_kind(name);
    struct slot *s;

    pthread_mutex_lock(&o->lock);
    s = slot_of(o, name);
    if (s && s->name == name) {
        s->name = 0;
        if (kind == VCUDA_KIND_CONTEXT || kind == VCUDA_KIND_MODULE)
            end_owned(o, name);
    }
    pthread_mutex_unlock(&o->lock);
}

uint64_t objects_end_primary(struct objects *o, uint64_t device) {
    uint64_t name = 0;

    pthread_mutex_lock(&o->lock);
    for (uint32_t i = 0; i < o->kinds[VCUDA_KIND_CONTEXT].room; i++) {
        struct slot *s = &o->kinds[VCUDA_KIND_CONTEXT].slots[i];

        if (s->name && s->object.aux == 1 + device) {
            name = s->name;
            end_owned(o, name);
        }
    }
    pthread_mutex_unlock(&o->lock);
    return name;
}
