// SPDX-License-Identifier: Apache-2.0
#include "notes.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#define BUCKETS 4096u

struct note {
    struct note *next;
    uint64_t name, owner;
    void *data;
    void (*release)(void *data);
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct note *buckets[BUCKETS];
static uint32_t owned; /* notes that have an owner */

/* A name's low 4 bits are 0, and its index follows. */
static struct note **place_of(uint64_t name) {
    struct note **at = &buckets[(name >> 4 ^ name >> 40) % BUCKETS];

    while (*at && (*at)->name != name)
        at = &(*at)->next;
    return at;
}

/* Under the lock: takes it out of the table. */
static void take(struct note **at, struct note **taken) {
    struct note *n = *at;

    *at = n->next;
    owned -= n->owner != 0;
    n->next = *taken;
    *taken = n;
}

static void release_all(struct note *n) {
    while (n) {
        struct note *next = n->next;

        if (n->release)
            n->release(n->data);
        free(n);
        n = next;
    }
}

bool notes_set(uint64_t name, uint64_t owner, void *data, void (*release)(void *data)) {
    struct note *n = malloc(sizeof(*n)), *old = NULL, **at;

    if (!n)
        return false;
    pthread_mutex_lock(&lock);
    at = place_of(name);
    if (*at)
        take(at, &old);
    *n = (struct note){*at, name, owner, data, release};
    *at = n;
    owned += owner != 0;
    pthread_mutex_unlock(&lock);
    release_all(old);
    return true;
}

bool notes_give(uint64_t name, uint64_t owner) {
    struct note *n;

    pthread_mutex_lock(&lock);
    n = *place_of(name);
    if (n) {
        owned += (owner != 0) - (n->owner != 0);
        n->owner = owner;
    }
    pthread_mutex_unlock(&lock);
    return n || notes_set(name, owner, NULL, NULL);
}

uint64_t notes_owner(uint64_t name) {
    struct note *n;
    uint64_t owner;

    pthread_mutex_lock(&lock);
    n = *place_of(name);
    owner = n ? n->owner : 0;
    pthread_mutex_unlock(&lock);
    return owner;
}

bool notes_has(uint64_t name) {
    bool has;

    pthread_mutex_lock(&lock);
    has = *place_of(name) != NULL;
    pthread_mutex_unlock(&lock);
    return has;
}

void *notes_get(uint64_t name) {
    struct note *n;
    void *data;

    pthread_mutex_lock(&lock);
    n = *place_of(name);
    data = n ? n->data : NULL;
    pthread_mutex_unlock(&lock);
    return data;
}

/* Under the lock. */
static void take_owned(uint64_t owner, struct note **taken) {
    struct note *mine = NULL, *n;

    for (uint32_t i = 0; i < BUCKETS && owned; i++) {
        for (struct note **at = &buckets[i]; *at;) {
            if ((*at)->owner == owner)
                take(at, &mine);
            else
                at = &(*at)->next;
        }
    }
    while ((n = mine)) {
        mine = n->next;
        n->next = *taken;
        *taken = n;
        take_owned(n->name, taken);
    }
}

void notes_end(uint64_t name) {
    struct note *taken = NULL, **at;

    if (!name) /* whose owner is 0 has none */
        return;
    pthread_mutex_lock(&lock);
    at = place_of(name);
    if (*at)
        take(at, &taken);
    take_owned(name, &taken);
    pthread_mutex_unlock(&lock);
    release_all(taken);
}
