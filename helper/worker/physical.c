// SPDX-License-Identifier: Apache-2.0
#include "physical.h"

#include <pthread.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>

#include "memory.h"
#include "shared.h"

struct physical {
    uint64_t bytes;
    uint64_t uses; /* the program's handles, mappings, and calls under way */
    uint32_t hold; /* of memory that is shared; 0: it is not */
};

struct handle {
    uint64_t native;
    uint64_t count; /* of the program's */
    struct physical *memory;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *handles;
static void *mappings; /* disjoint: equal is what overlaps */

static int by_handle(const void *a, const void *b) {
    const struct handle *x = a, *y = b;

    return x->native < y->native ? -1 : x->native > y->native;
}

static int by_range(const void *a, const void *b) {
    const struct physical_mapping *x = a, *y = b;

    if (x->address + x->bytes <= y->address)
        return -1;
    return y->address + y->bytes <= x->address;
}

/* Under the lock. */
static struct handle *find_handle(uint64_t native) {
    struct handle wanted = {.native = native}, **found = tfind(&wanted, &handles, by_handle);

    return found ? *found : NULL;
}

/* Under the lock: false, it is not noted. */
static bool add_handle(uint64_t native, struct physical *p) {
    struct handle *h = find_handle(native);

    if (h) {
        h->count++;
        return true;
    }
    h = malloc(sizeof(*h));
    if (!h)
        return false;
    *h = (struct handle){native, 1, p};
    if (tsearch(h, &handles, by_handle))
        return true;
    free(h);
    return false;
}

void physical_made(uint64_t handle, uint64_t bytes) {
    struct physical *p = malloc(sizeof(*p));

    /* Without memory for the note the bytes stay taken until the session ends. */
    if (!p)
        return;
    *p = (struct physical){bytes, 1, 0};
    physical_handle(handle, p);
}

void physical_imported(uint64_t handle, uint32_t hold) {
    struct physical *known = physical_use_handle(handle), *p = known;

    if (!known)
        p = malloc(sizeof(*p));
    if (known || !p)
        shared_leave(hold);
    else
        *p = (struct physical){0, 1, hold};
    physical_handle(handle, p);
}

uint32_t physical_hold(const struct physical *p) {
    return p->hold;
}

void physical_set_hold(struct physical *p, uint32_t hold) {
    p->hold = hold;
}

uint64_t physical_bytes(const struct physical *p) {
    return p->bytes;
}

void physical_handle(uint64_t handle, struct physical *p) {
    if (!p)
        return;
    pthread_mutex_lock(&lock);
    add_handle(handle, p);
    pthread_mutex_unlock(&lock);
}

struct physical *physical_use_handle(uint64_t handle) {
    struct handle *h;

    pthread_mutex_lock(&lock);
    h = find_handle(handle);
    if (h)
        h->memory->uses++;
    pthread_mutex_unlock(&lock);
    return h ? h->memory : NULL;
}

struct physical *physical_use_address(uint64_t address) {
    struct physical_mapping wanted = {.address = address, .bytes = 1}, **found;
    struct physical *p = NULL;

    pthread_mutex_lock(&lock);
    found = tfind(&wanted, &mappings, by_range);
    if (found) {
        p = (*found)->memory;
        p->uses++;
    }
    pthread_mutex_unlock(&lock);
    return p;
}

void physical_drop(struct physical *p) {
    bool last;

    if (!p)
        return;
    pthread_mutex_lock(&lock);
    last = --p->uses == 0;
    pthread_mutex_unlock(&lock);
    if (!last)
        return;
    shared_leave(p->hold);
    memory_give_back(p->bytes);
    free(p);
}

struct physical *physical_release(uint64_t handle) {
    struct physical *p = NULL;
    struct handle *h;

    pthread_mutex_lock(&lock);
    h = find_handle(handle);
    if (h) {
        p = h->memory;
        if (--h->count == 0)
            tdelete(h, &handles, by_handle);
        else
            h = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(h);
    return p;
}

/* Under the lock: false, it is not noted. */
static bool add_mapping(struct physical_mapping *m) {
    struct physical_mapping **found = tsearch(m, &mappings, by_range);

    return found && *found == m;
}

void physical_map(uint64_t address, uint64_t bytes, struct physical *p) {
    struct physical_mapping *m = p ? malloc(sizeof(*m)) : NULL;
    bool ok = false;

    if (m) {
        *m = (struct physical_mapping){address, bytes, p, NULL};
        pthread_mutex_lock(&lock);
        ok = add_mapping(m);
        pthread_mutex_unlock(&lock);
    }
    if (!ok)
        free(m);
}

struct physical_mapping *physical_unmap(uint64_t address, uint64_t bytes) {
    const struct physical_mapping wanted = {.address = address, .bytes = bytes};
    struct physical_mapping *list = NULL, **found;

    if (bytes > UINT64_MAX - address)
        return NULL;
    pthread_mutex_lock(&lock);
    while ((found = tfind(&wanted, &mappings, by_range))) {
        struct physical_mapping *m = *found;

        tdelete(m, &mappings, by_range);
        m->next = list;
        list = m;
    }
    pthread_mutex_unlock(&lock);
    return list;
}

void physical_put_back(struct physical_mapping *list) {
    while (list) {
        struct physical_mapping *next = list->next;

        pthread_mutex_lock(&lock);
        if (!add_mapping(list))
            free(list);
        pthread_mutex_unlock(&lock);
        list = next;
    }
}

void physical_end(struct physical_mapping *list) {
    while (list) {
        struct physical_mapping *next = list->next;

        physical_drop(list->memory);
        free(list);
        list = next;
    }
}
