// SPDX-License-Identifier: Apache-2.0
#include "handle.h"

#include <stdlib.h>

#include "lock.h"

/* A handle is type << 56 | generation << 24 | slot. */
#define SLOT_BITS 24
#define GENERATION_MASK 0xffffffffu

struct slot {
    struct sim_object *object; /* NULL: free */
    uint32_t generation;       /* of the handle that uses it now, or used it last */
    uint32_t next_free;
};

static struct vcuda_lock lock; /* cheap: nearly every call takes it */
static struct slot *slots;
static uint32_t slot_count, first_free = UINT32_MAX;

void sim_object_init(struct sim_object *object, enum sim_type type,
                     void (*destroy)(struct sim_object *object)) {
    object->type = type;
    atomic_init(&object->refs, 1);
    object->handle = 0;
    object->destroy = destroy;
}

void *sim_ref(void *object) {
    struct sim_object *o = object;

    atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
    return object;
}

void sim_put(void *object) {
    struct sim_object *o = object;

    if (o && atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) == 1)
        o->destroy(o);
}

static bool grow(void) {
    uint32_t count = slot_count ? slot_count * 2 : 64;
    struct slot *bigger;

    if (count > 1u << SLOT_BITS || !(bigger = realloc(slots, count * sizeof(*slots))))
        return false;
    slots = bigger;
    for (uint32_t i = count; i-- > slot_count;) {
        slots[i] = (struct slot){.next_free = first_free};
        first_free = i;
    }
    slot_count = count;
    return true;
}

bool sim_handle_open(struct sim_object *object) {
    uint32_t index;
    bool good;

    vcuda_lock_take(&lock);
    good = first_free != UINT32_MAX || grow();
    if (good) {
        index = first_free;
        first_free = slots[index].next_free;
        slots[index].object = sim_ref(object);
        slots[index].generation++;
        object->handle =
            (uint64_t)object->type << 56 | (uint64_t)slots[index].generation << SLOT_BITS | index;
    }
    vcuda_lock_leave(&lock);
    return good;
}

/* The slot that a handle of this type names, or NULL; under the lock. */
static struct slot *find(uint64_t handle, enum sim_type type) {
    uint64_t index = handle & ((1u << SLOT_BITS) - 1);

    return handle >> 56 == (uint64_t)type && index < slot_count ? &slots[index] : NULL;
}

static uint32_t generation(uint64_t handle) {
    return handle >> SLOT_BITS & GENERATION_MASK;
}

static bool live(const struct slot *slot, uint64_t handle) {
    return slot && slot->object && slot->generation == generation(handle) &&
           slot->object->handle == handle;
}

bool sim_handle_close(struct sim_object *object) {
    struct slot *slot;
    bool good;

    vcuda_lock_take(&lock);
    slot = find(object->handle, object->type);
    good = live(slot, object->handle);
    if (good) {
        slot->object = NULL;
        slot->next_free = first_free;
        first_free = (uint32_t)(slot - slots);
    }
    vcuda_lock_leave(&lock);
    if (good)
        sim_put(object);
    return good;
}

void *sim_handle_get(const void *handle, enum sim_type type) {
    struct sim_object *object = NULL;
    struct slot *slot;

    vcuda_lock_take(&lock);
    slot = find((uintptr_t)handle, type);
    if (live(slot, (uintptr_t)handle))
        object = sim_ref(slot->object);
    vcuda_lock_leave(&lock);
    return object;
}

bool sim_handle_stale(const void *handle, enum sim_type type) {
    uint64_t value = (uintptr_t)handle;
    struct slot *slot;
    bool stale;

    vcuda_lock_take(&lock);
    slot = find(value, type);
    stale =
        slot && generation(value) && generation(value) <= slot->generation && !live(slot, value);
    vcuda_lock_leave(&lock);
    return stale;
}
