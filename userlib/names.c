// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <pthread.h>
#include <stdlib.h>

#include "barrier.h"

static struct {
    pthread_mutex_t lock;
    uint32_t used; /* entries ever handed out */
    uint32_t free; /* index + 1 of the first free entry */
} tables[VCUDA_KIND_OF_WORKER];

struct names_entry *names_chunks[VCUDA_KIND_OF_WORKER][NAMES_CHUNKS];

__attribute__((constructor)) static void init_locks(void) {
    for (int i = 0; i < VCUDA_KIND_OF_WORKER; i++)
        pthread_mutex_init(&tables[i].lock, NULL);
}

static struct names_entry *entry_at(enum vcuda_kind kind, uint32_t index) {
    struct names_entry *chunk = vcuda_load_acquire(&names_chunks[kind][index / NAMES_CHUNK]);

    return chunk ? &chunk[index % NAMES_CHUNK] : NULL;
}

/* An unused entry's index, or UINT32_MAX. Under the lock. */
static uint32_t take_entry(enum vcuda_kind kind) {
    uint32_t index = tables[kind].free;

    if (index) {
        tables[kind].free = entry_at(kind, index - 1)->next_free;
        return index - 1;
    }
    index = tables[kind].used;
    /* Index 0 of generation 0 would look like nothing; start at 1. */
    if (!index)
        index = tables[kind].used = 1;
    if (index > VCUDA_NAME_INDEX_MAX)
        return UINT32_MAX;
    if (!names_chunks[kind][index / NAMES_CHUNK]) {
        struct names_entry *chunk = calloc(NAMES_CHUNK, sizeof(*chunk));

        if (!chunk)
            return UINT32_MAX;
        vcuda_store_release(&names_chunks[kind][index / NAMES_CHUNK], chunk);
    }
    tables[kind].used++;
    return index;
}

uint64_t names_new(enum vcuda_kind kind, void *object) {
    uint64_t name = 0;
    uint32_t index;

    pthread_mutex_lock(&tables[kind].lock);
    index = take_entry(kind);
    if (index != UINT32_MAX) {
        struct names_entry *e = entry_at(kind, index);

        vcuda_store_once(&e->generation, (e->generation + 1) & 0xffff);
        e->object = object;
        name = vcuda_name(kind, e->generation, index);
        vcuda_store_release(&e->name, name);
    }
    pthread_mutex_unlock(&tables[kind].lock);
    return name;
}

/* Under the lock: the entry of a name that is valid; NULL: it is not. */
static struct names_entry *live_entry(enum vcuda_kind kind, uint64_t name) {
    struct names_entry *e = entry_at(kind, vcuda_name_index(name));

    return e && name && e->name == name ? e : NULL;
}

/* Under the lock. */
static void *retire_entry(struct names_entry *e) {
    void *object = e->object;

    vcuda_store_release(&e->name, 0);
    e->object = NULL;
    return object;
}

/* Under the lock: the next new name may have this index. */
static void reuse_entry(enum vcuda_kind kind, uint32_t index, struct names_entry *e) {
    e->next_free = tables[kind].free;
    tables[kind].free = index + 1;
}

void *names_retire(enum vcuda_kind kind, uint64_t name) {
    void *object = NULL;
    struct names_entry *e;

    if (vcuda_name_kind(name) != kind || kind >= VCUDA_KIND_OF_WORKER)
        return NULL;
    pthread_mutex_lock(&tables[kind].lock);
    e = live_entry(kind, name);
    if (e)
        object = retire_entry(e);
    pthread_mutex_unlock(&tables[kind].lock);
    return object;
}

void names_reuse(enum vcuda_kind kind, uint64_t name) {
    uint32_t index = vcuda_name_index(name);

    pthread_mutex_lock(&tables[kind].lock);
    reuse_entry(kind, index, entry_at(kind, index));
    pthread_mutex_unlock(&tables[kind].lock);
}

void *names_end(enum vcuda_kind kind, uint64_t name) {
    void *object = names_retire(kind, name);

    if (object)
        names_reuse(kind, name);
    return object;
}

/* Generations go round: one of the other half of the circle has not been yet. */
bool names_ended(enum vcuda_kind kind, uint64_t name) {
    uint32_t generation = vcuda_name_generation(name), index = vcuda_name_index(name), age;
    const struct names_entry *e;

    if (vcuda_name_kind(name) != kind || kind >= VCUDA_KIND_OF_WORKER)
        return false;
    e = entry_at(kind, index);
    if (!index || !e || vcuda_load_acquire(&e->name) == name)
        return false;
    age = vcuda_load_once(&e->generation) - generation;
    return generation && (age & 0xffff) < 0x8000;
}

bool names_any(enum vcuda_kind kind, int (*match)(const void *object, const void *arg),
               const void *arg) {
    bool any = false;

    pthread_mutex_lock(&tables[kind].lock);
    for (uint32_t i = 1; i < tables[kind].used && !any; i++) {
        const struct names_entry *e = entry_at(kind, i);

        any = e->name && match(e->object, arg);
    }
    pthread_mutex_unlock(&tables[kind].lock);
    return any;
}

uint64_t names_next(enum vcuda_kind kind, uint64_t name,
                    int (*match)(const void *object, const void *arg), const void *arg) {
    uint64_t next = 0;

    pthread_mutex_lock(&tables[kind].lock);
    for (uint32_t i = vcuda_name_index(name) + 1; i < tables[kind].used && !next; i++) {
        const struct names_entry *e = entry_at(kind, i);

        if (e->name && match(e->object, arg))
            next = e->name;
    }
    pthread_mutex_unlock(&tables[kind].lock);
    return next;
}

void names_end_if(enum vcuda_kind kind, int (*match)(const void *object, const void *arg),
                  const void *arg, void (*release)(void *object)) {
    pthread_mutex_lock(&tables[kind].lock);
    for (uint32_t i = 1; i < tables[kind].used; i++) {
        struct names_entry *e = entry_at(kind, i);

        if (e->name && match(e->object, arg)) {
            release(retire_entry(e));
            reuse_entry(kind, i, e);
        }
    }
    pthread_mutex_unlock(&tables[kind].lock);
}
