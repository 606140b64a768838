// SPDX-License-Identifier: Apache-2.0
#include "objects.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "barrier.h"

/* More live objects of one kind than this are refused: the table is the worker's memory. */
#define INDEX_MAX VCUDA_NAME_INDEX_MAX
/* Places in the first piece of a kind's table; each piece after it has as many as all before. */
#define FIRST_PIECE 64u

/*
 * Changed under the lock, read without: the executor looks some up for each call. A new object
 * makes `changes` odd and then even again; whoever saw it odd, or different afterwards, reads
 * again. What changes later is one word. All of a slot is in one line.
 */
struct slot {
    _Alignas(VCUDA_CACHE_LINE) uint64_t name; /* 0: free */
    uint32_t changes;
    uint16_t generation;
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

/* Pieces stay where they are, so that one may look into them while the table grows. */
static uint32_t piece_of(uint32_t index) {
    _Static_assert(INDEX_MAX < FIRST_PIECE << (OBJECTS_PIECES - 1), "all names have a piece");
    return index < FIRST_PIECE ? 0 : 26 - (uint32_t)__builtin_clz(index);
}

static uint32_t piece_begin(uint32_t piece) {
    return piece ? FIRST_PIECE << (piece - 1) : 0;
}

static uint32_t piece_size(uint32_t piece) {
    return piece ? FIRST_PIECE << (piece - 1) : FIRST_PIECE;
}

/* Of a place that the table reaches. */
static struct slot *slot_at(const struct objects *o, uint32_t kind, uint32_t index) {
    uint32_t piece = piece_of(index);

    return &vcuda_load_acquire(&o->kinds[kind].pieces[piece])[index - piece_begin(piece)];
}

/* The slot that a name of this kind would have; NULL if the table does not reach so far. */
static struct slot *slot_in(const struct objects *o, uint32_t kind, uint64_t name) {
    uint32_t index = vcuda_name_index(name), piece = piece_of(index);
    struct slot *slots = vcuda_load_acquire(&o->kinds[kind].pieces[piece]);

    return slots ? &slots[index - piece_begin(piece)] : NULL;
}

/* The same of any name. */
static struct slot *slot_of(const struct objects *o, uint64_t name) {
    uint32_t kind = vcuda_name_kind(name);

    return kind && kind < VCUDA_KIND_MAX ? slot_in(o, kind, name) : NULL;
}

static bool reach(struct objects *o, uint32_t kind, uint32_t index) {
    if (index > INDEX_MAX)
        return false;
    while (index >= o->kinds[kind].room) {
        uint32_t piece = piece_of(o->kinds[kind].room), size = piece_size(piece);
        struct slot *slots = aligned_alloc(VCUDA_CACHE_LINE, size * sizeof(*slots));

        if (!slots)
            return false;
        memset(slots, 0, size * sizeof(*slots));
        vcuda_store_release(&o->kinds[kind].pieces[piece], slots);
        o->kinds[kind].room += size;
    }
    return true;
}

/* Under the lock: a free slot's new object. */
static void fill(struct objects *o, struct slot *s, uint64_t name, const struct object *object) {
    uint32_t *made = &o->kinds[vcuda_name_kind(name)].made;

    vcuda_store_once(made, *made + 1);
    vcuda_store_once(&s->changes, s->changes + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    s->owns = false;
    vcuda_store_once(&s->object.native, object->native);
    vcuda_store_once(&s->object.owner, object->owner);
    vcuda_store_once(&s->object.aux, object->aux);
    vcuda_store_once(&s->object.also_owner, object->also_owner);
    vcuda_store_once(&s->name, name);
    vcuda_store_release(&s->changes, s->changes + 1);
}

/* Whether the slot's object has this name, and the object. Any thread, without the lock. */
static bool read_slot(const struct slot *s, uint64_t name, struct object *object) {
    uint32_t changes;
    bool ok;

    do {
        changes = vcuda_load_acquire(&s->changes);
        ok = vcuda_load_once(&s->name) == name;
        object->native = vcuda_load_once(&s->object.native);
        object->owner = vcuda_load_once(&s->object.owner);
        object->aux = vcuda_load_once(&s->object.aux);
        object->also_owner = vcuda_load_once(&s->object.also_owner);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (changes % 2 || vcuda_load_once(&s->changes) != changes);
    return ok;
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

/* Under the lock: whether there is such an owner; 0 is none, which is as well. */
static bool has_owner(const struct objects *o, uint64_t owner) {
    const struct slot *s = slot_of(o, owner);

    return !owner || (s && s->name == owner);
}

/* Under the lock: what an object would end with has not ended already. */
static bool owners_live(const struct objects *o, const struct object *object) {
    return has_owner(o, object->owner) && has_owner(o, object->also_owner);
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
    ok = owners_live(o, object) && reach(o, vcuda_name_kind(name), vcuda_name_index(name));
    if (ok) {
        struct slot *s = slot_of(o, name);

        ok = !s->name;
        if (ok) {
            fill(o, s, name, object);
            note_owner(o, object->owner);
            note_owner(o, object->also_owner);
        }
    }
    pthread_mutex_unlock(&o->lock);
    return ok;
}

bool objects_get(struct objects *o, enum vcuda_kind kind, uint64_t name, struct object *object) {
    const struct slot *s = name && vcuda_name_kind(name) == kind ? slot_in(o, kind, name) : NULL;

    return s && read_slot(s, name, object);
}

/* Under the lock: the name of a new object, in a slot of its own; 0: as objects_name(). */
static uint64_t add_new(struct objects *o, enum vcuda_kind kind, const struct object *object) {
    uint32_t index = o->kinds[kind].free;
    uint64_t name;
    struct slot *s;

    if (!owners_live(o, object))
        return 0;
    while (index < o->kinds[kind].room && slot_at(o, kind, index)->name)
        index++;
    if (!reach(o, kind, index))
        return 0;
    o->kinds[kind].free = index + 1;
    s = slot_at(o, kind, index);
    s->generation++;
    name = vcuda_name(kind, s->generation, index);
    fill(o, s, name, object);
    note_owner(o, object->owner);
    note_owner(o, object->also_owner);
    return name;
}

uint64_t objects_name(struct objects *o, enum vcuda_kind kind, const struct object *object) {
    struct known *fresh = malloc(sizeof(*fresh)), **found;
    uint64_t name = 0;

    if (!fresh)
        return 0;
    fresh->native = object->native;
    pthread_mutex_lock(&o->lock);
    found = tsearch(fresh, &o->kinds[kind].names, by_native);
    if (found && *found != fresh) {
        name = (*found)->name;
    } else if (found) {
        fresh->name = name = add_new(o, kind, object);
        if (name)
            fresh = NULL;
        else
            tdelete(fresh, &o->kinds[kind].names, by_native);
    }
    pthread_mutex_unlock(&o->lock);
    free(fresh);
    return name;
}

/* Under the lock: the slot is free again. */
static void end_slot(struct objects *o, uint32_t kind, uint32_t index) {
    struct slot *s = slot_at(o, kind, index);
    struct known key = {.native = s->object.native}, **found, *known;

    vcuda_store_once(&s->name, 0);
    vcuda_store_release(&o->kinds[kind].ended, o->kinds[kind].ended + 1);
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
            struct slot *s = slot_at(o, (uint32_t)kind, i);

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

uint32_t objects_made(struct objects *o, enum vcuda_kind kind) {
    return vcuda_load_once(&o->kinds[kind].made);
}

uint64_t objects_find(struct objects *o, enum vcuda_kind kind, const void *native) {
    uint64_t name = 0;

    pthread_mutex_lock(&o->lock);
    for (uint32_t i = 0; i < o->kinds[kind].room && !name; i++) {
        const struct slot *s = slot_at(o, kind, i);

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
        vcuda_store_once(&s->object.owner, owner);
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

/* Under the lock: how many there are now. */
static uint64_t add_holds(struct slot *s, int64_t more) {
    uint64_t now = s->object.aux + (uint64_t)more;

    vcuda_store_once(&s->object.aux, now);
    return now;
}

bool objects_hold(struct objects *o, enum vcuda_kind kind, void *native) {
    struct known key = {.native = native}, **found;

    pthread_mutex_lock(&o->lock);
    found = tfind(&key, &o->kinds[kind].names, by_native);
    if (found)
        add_holds(slot_of(o, (*found)->name), 1);
    pthread_mutex_unlock(&o->lock);
    return found != NULL;
}

bool objects_drop(struct objects *o, uint64_t name) {
    struct slot *s;
    bool ok;

    pthread_mutex_lock(&o->lock);
    s = slot_of(o, name);
    ok = s && s->name == name;
    if (ok && add_holds(s, -1) == 0)
        end_slot(o, vcuda_name_kind(name), vcuda_name_index(name));
    pthread_mutex_unlock(&o->lock);
    return ok;
}

uint64_t objects_change_aux(struct objects *o, uint64_t name, uint64_t aux) {
    uint64_t before = 0;
    struct slot *s;

    pthread_mutex_lock(&o->lock);
    s = slot_of(o, name);
    if (s && s->name == name) {
        before = s->object.aux;
        vcuda_store_once(&s->object.aux, aux);
    }
    pthread_mutex_unlock(&o->lock);
    return before;
}

uint64_t objects_end_primary(struct objects *o, uint64_t device) {
    uint64_t name = 0;

    pthread_mutex_lock(&o->lock);
    for (uint32_t i = 0; i < o->kinds[VCUDA_KIND_CONTEXT].room; i++) {
        struct slot *s = slot_at(o, VCUDA_KIND_CONTEXT, i);

        if (s->name && s->object.aux == 1 + device) {
            name = s->name;
            end_slot(o, VCUDA_KIND_CONTEXT, i);
            end_owned(o, name);
        }
    }
    pthread_mutex_unlock(&o->lock);
    return name;
}
