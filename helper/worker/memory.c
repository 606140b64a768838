// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>

/* More than any host has: without a limit the driver says what it says to that, uncounted. */
#define NONSENSE (1ull << 50)

struct held {
    enum memory_what what;
    uint64_t key;
    struct memory_part part;
    struct held *next, **link; /* all of them */
};

static struct {
    pthread_mutex_t lock;
    pthread_mutex_t taking; /* the place in the account is one thread's at a time */
    struct vcuda_owner *owner;
    uint32_t place;
    uint64_t limit;
    void *tree;
    struct held *all;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER, .taking = PTHREAD_MUTEX_INITIALIZER};

void memory_start(struct vcuda_owner *owner, uint32_t place, uint64_t limit) {
    memory.owner = owner;
    memory.place = place;
    memory.limit = limit;
}

bool memory_limited(void) {
    return memory.owner && memory.limit;
}

/* What all of the owner's sessions hold. */
static uint64_t held_by_all(void) {
    return memory.owner ? vcuda_account_held(&memory.owner->account) : 0;
}

bool memory_take(uint64_t bytes) {
    bool ok;

    if (!memory.owner)
        return true;
    if (!memory.limit && bytes > NONSENSE)
        return true;
    pthread_mutex_lock(&memory.taking);
    ok = vcuda_account_take(&memory.owner->account, memory.place, memory.limit, bytes);
    pthread_mutex_unlock(&memory.taking);
    return ok;
}

void memory_take_over(uint64_t bytes) {
    if (memory.owner)
        vcuda_account_add(&memory.owner->account, memory.place, bytes);
}

void memory_give_back(uint64_t bytes) {
    if (memory.owner && bytes <= NONSENSE)
        vcuda_account_give_back(&memory.owner->account, memory.place, bytes);
}

static int by_key(const void *a, const void *b) {
    const struct held *x = a, *y = b;

    if (x->what != y->what)
        return x->what < y->what ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Under the lock. */
static void forget(struct held *h) {
    tdelete(h, &memory.tree, by_key);
    *h->link = h->next;
    if (h->next)
        h->next->link = h->link;
}

void memory_hold(enum memory_what what, uint64_t key, const struct memory_part *part) {
    struct held *h = malloc(sizeof(*h)), **found = NULL;

    /* Without memory for the note the bytes stay taken until the session ends. */
    if (!h)
        return;
    *h = (struct held){.what = what, .key = key, .part = *part};
    pthread_mutex_lock(&memory.lock);
    found = tsearch(h, &memory.tree, by_key);
    if (found && *found == h) {
        h->next = memory.all;
        h->link = &memory.all;
        if (h->next)
            h->next->link = &h->next;
        memory.all = h;
        h = NULL;
    }
    pthread_mutex_unlock(&memory.lock);
    free(h);
}

bool memory_let_go(enum memory_what what, uint64_t key, struct memory_part *part) {
    struct held wanted = {.what = what, .key = key}, **found, *h = NULL;

    pthread_mutex_lock(&memory.lock);
    found = tfind(&wanted, &memory.tree, by_key);
    if (found) {
        h = *found;
        *part = h->part;
        forget(h);
    }
    pthread_mutex_unlock(&memory.lock);
    free(h);
    return h != NULL;
}

bool memory_held(enum memory_what what, uint64_t key, struct memory_part *part) {
    struct held wanted = {.what = what, .key = key}, **found;

    pthread_mutex_lock(&memory.lock);
    found = tfind(&wanted, &memory.tree, by_key);
    if (found)
        *part = (*found)->part;
    pthread_mutex_unlock(&memory.lock);
    return found;
}

bool memory_note_hold(enum memory_what what, uint64_t key, const struct memory_part *part) {
    struct held wanted = {.what = what, .key = key}, **found;
    bool same;

    pthread_mutex_lock(&memory.lock);
    found = tfind(&wanted, &memory.tree, by_key);
    same = found && (*found)->part.bytes == part->bytes;
    if (same)
        (*found)->part.hold = part->hold;
    pthread_mutex_unlock(&memory.lock);
    return same;
}

bool memory_let_go_shared(uint64_t context, uint64_t *key, struct memory_part *part) {
    struct held *h;

    pthread_mutex_lock(&memory.lock);
    h = memory.all;
    while (h && (h->part.context != context || !h->part.hold))
        h = h->next;
    if (h) {
        *key = h->key;
        *part = h->part;
        forget(h);
    }
    pthread_mutex_unlock(&memory.lock);
    free(h);
    return h != NULL;
}

void memory_end_context(uint64_t context) {
    uint64_t bytes = 0;
    struct held *next;

    if (!context)
        return;
    pthread_mutex_lock(&memory.lock);
    for (struct held *h = memory.all; h; h = next) {
        next = h->next;
        if (h->part.context != context)
            continue;
        bytes += h->part.bytes;
        forget(h);
        free(h);
    }
    pthread_mutex_unlock(&memory.lock);
    memory_give_back(bytes);
}

uint64_t memory_leave_pool(const void *pool) {
    uint64_t bytes = 0;

    pthread_mutex_lock(&memory.lock);
    for (struct held *h = memory.all; h; h = h->next) {
        if (h->what == MEMORY_POOLED && h->part.pool == pool) {
            h->part.pool = NULL;
            bytes += h->part.bytes;
        }
    }
    pthread_mutex_unlock(&memory.lock);
    return bytes;
}

uint64_t memory_size(uint64_t total) {
    return memory_limited() && memory.limit < total ? memory.limit : total;
}

uint64_t memory_left(uint64_t left) {
    uint64_t held = held_by_all(), rest;

    if (!memory_limited())
        return left;
    rest = held < memory.limit ? memory.limit - held : 0;
    return rest < left ? rest : left;
}
