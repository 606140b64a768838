// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "arena.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "guest.h"
#include "layout.h"
#include "register.h"
#include "session.h"
#include "space.h"
#include "wire.h"

#define REGION_BYTES_MIN (8ull << 20)
/* Unused regions of so many bytes in all are kept: to grow again takes milliseconds. */
#define UNUSED_BYTES_MAX (64ull << 20)
#define STAGE_BYTES (1ull << 20)
/* Regions that registered memory leaves to the arena, which has no other way to memory. */
#define REGIONS_KEPT 32u

/* All of a region's bytes, in address order: free pieces and blocks. */
struct piece {
    struct piece *next;
    char *start;
    size_t room; /* whole pages */
    uint32_t region;
    bool used;
    struct arena_block block;
};

static struct {
    pthread_mutex_t lock;
    /* The worker takes the region that was offered last: one at a time. */
    pthread_mutex_t sharing; /* taken under `lock` too */
    /* Who is refused room waits for what others are giving back. Not taken under `lock`. */
    pthread_mutex_t giving;
    struct piece *pieces;
    size_t sizes[VCUDA_REGIONS_MAX]; /* of the arena's regions; 0: no such */
    uint32_t regions;                /* in use, the rings' included */
    pthread_cond_t stage_freed;
    void *stages[ARENA_STAGES];
    int stages_free;
} arena = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .sharing = PTHREAD_MUTEX_INITIALIZER,
    .giving = PTHREAD_MUTEX_INITIALIZER,
    .stage_freed = PTHREAD_COND_INITIALIZER,
    .regions = 1,
};

static size_t pages(size_t bytes) {
    return (bytes + VCUDA_PAGE - 1) & ~(size_t)(VCUDA_PAGE - 1);
}

static CUresult error_of(int err) {
    return err == -EPIPE || err == -ENOTCONN ? VCUDA_ERROR_LOST : CUDA_ERROR_OUT_OF_MEMORY;
}

static int region_add(size_t bytes, uint32_t *region) {
    int err = session.transport.region_add(&session.transport, bytes, region);

    if (!err)
        __atomic_fetch_add(&arena.regions, 1, __ATOMIC_RELAXED);
    return err;
}

static void region_del(uint32_t region, size_t bytes) {
    session.transport.region_del(&session.transport, region, bytes);
    __atomic_fetch_sub(&arena.regions, 1, __ATOMIC_RELAXED);
}

/* Under the lock: maps a fresh region at an address that is free on our side. */
static CUresult map_here(uint32_t region, uint64_t bytes, char **start) {
    uint64_t address;

    while ((address = space_take(bytes))) {
        void *at = (void *)address;
        int r = session.transport.region_map(&session.transport, region, at, bytes, TRANSPORT_FREE);

        if (r == -EEXIST) /* something of the program's is there: these are not asked for again */
            continue;
        if (r) {
            space_give(address, bytes);
            return error_of(r);
        }
        *start = at;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* Under `sharing`, and so is the call behind it. */
static CUresult offer(uint32_t region, uint64_t bytes) {
    int err = session.transport.region_offer(&session.transport, region, bytes);

    return err ? error_of(err) : CUDA_SUCCESS;
}

/* Under both locks: the worker maps it, too. */
static CUresult map_there(struct thread *t, uint32_t region, char *start, uint64_t bytes) {
    uint32_t registered = 0;
    CUresult r = offer(region, bytes);

    if (r == CUDA_SUCCESS)
        r = wire_map_region(t, region, (uint64_t)start, bytes, &registered);
    if (r != CUDA_SUCCESS) {
        munmap(start, bytes);
        space_give((uint64_t)start, bytes);
    }
    return r;
}

/* Under the lock: a new region as one free piece at the list's head. */
static CUresult grow(struct thread *t, size_t bytes) {
    uint64_t size = bytes > REGION_BYTES_MIN ? bytes : REGION_BYTES_MIN;
    struct piece *p = calloc(1, sizeof(*p));
    CUresult r;
    int err;

    if (!p)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&arena.sharing);
    err = region_add(size, &p->region);
    r = err ? error_of(err) : map_here(p->region, size, &p->start);
    if (r == CUDA_SUCCESS)
        r = map_there(t, p->region, p->start, size);
    pthread_mutex_unlock(&arena.sharing);
    if (r != CUDA_SUCCESS) {
        if (!err)
            region_del(p->region, size);
        free(p);
        return r;
    }
    p->room = arena.sizes[p->region] = size;
    p->next = arena.pieces;
    arena.pieces = p;
    return CUDA_SUCCESS;
}

/* Under the lock: cuts `room` bytes off a free piece; NULL where none is large enough. */
static struct piece *carve(size_t room) {
    for (struct piece *p = arena.pieces; p; p = p->next) {
        if (p->used || p->room < room)
            continue;
        if (p->room > room) {
            struct piece *rest = calloc(1, sizeof(*rest));

            if (!rest)
                return NULL;
            rest->start = p->start + room;
            rest->room = p->room - room;
            rest->region = p->region;
            rest->next = p->next;
            p->next = rest;
            p->room = room;
        }
        p->used = true;
        return p;
    }
    return NULL;
}

static bool ends_with_context(enum arena_kind kind) {
    return kind == ARENA_PINNED || kind == ARENA_MANAGED;
}

/* Under the lock: a piece, from where there is room or from a new region. */
static CUresult carve_or_grow(struct thread *t, size_t room, struct piece **p) {
    CUresult r = CUDA_SUCCESS;

    *p = carve(room);
    if (*p)
        return CUDA_SUCCESS;
    r = grow(t, room);
    if (r == CUDA_SUCCESS)
        *p = carve(room);
    return *p || r != CUDA_SUCCESS ? r : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Under the lock: takes off the list what are whole regions, unused, beyond those to be kept. */
static struct piece *take_unused(size_t keep) {
    struct piece *gone = NULL, **at = &arena.pieces;

    while (*at) {
        struct piece *p = *at;

        if (p->used || p->room != arena.sizes[p->region]) {
            at = &p->next;
        } else if (p->room <= keep) {
            keep -= p->room;
            at = &p->next;
        } else {
            *at = p->next;
            p->next = gone;
            gone = p;
            arena.sizes[p->region] = 0;
        }
    }
    return gone;
}

/* Ends unused regions but for `keep` bytes of them, once others have ended theirs. */
static void give_back(struct thread *t, size_t keep) {
    struct piece *gone, *p;

    pthread_mutex_lock(&arena.giving);
    pthread_mutex_lock(&arena.lock);
    gone = take_unused(keep);
    pthread_mutex_unlock(&arena.lock);
    while ((p = gone)) {
        gone = p->next;
        munmap(p->start, p->room);
        if (arena_unshare(t, p->region, p->room) == CUDA_SUCCESS) {
            pthread_mutex_lock(&arena.lock);
            space_give((uint64_t)p->start, p->room);
            pthread_mutex_unlock(&arena.lock);
        }
        free(p);
    }
    pthread_mutex_unlock(&arena.giving);
}

void arena_shrink(struct thread *t) {
    give_back(t, UNUSED_BYTES_MAX);
}

CUresult arena_alloc(struct thread *t, size_t bytes, enum arena_kind kind, unsigned int flags,
                     void **out) {
    size_t room = pages(bytes);
    struct piece *p;
    CUresult r;

    if (!bytes || room < bytes)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&arena.lock);
    r = carve_or_grow(t, room, &p);
    if (r == CUDA_ERROR_OUT_OF_MEMORY) { /* at a limit, what is kept for later is in the way */
        pthread_mutex_unlock(&arena.lock);
        give_back(t, 0);
        pthread_mutex_lock(&arena.lock);
        r = carve_or_grow(t, room, &p);
    }
    if (r == CUDA_SUCCESS) {
        p->block = (struct arena_block){p->start, bytes, flags, kind, 0};
        if (ends_with_context(kind))
            p->block.context = t->context;
        *out = p->start;
    }
    pthread_mutex_unlock(&arena.lock);
    return r;
}

/* Joins free neighbours of one region. */
static void join_free(void) {
    for (struct piece *p = arena.pieces; p; p = p->next) {
        while (p->next && !p->used && !p->next->used && p->region == p->next->region) {
            struct piece *gone = p->next;

            p->room += gone->room;
            p->next = gone->next;
            free(gone);
        }
    }
}

CUresult arena_free(void *address, enum arena_kind kind) {
    CUresult r = CUDA_ERROR_INVALID_VALUE;

    pthread_mutex_lock(&arena.lock);
    for (struct piece *p = arena.pieces; p; p = p->next) {
        if (p->used && p->start == address && p->block.kind == kind) {
            p->used = false;
            join_free();
            r = CUDA_SUCCESS;
            break;
        }
    }
    pthread_mutex_unlock(&arena.lock);
    return r;
}

void arena_forget(uint64_t context) {
    pthread_mutex_lock(&arena.lock);
    for (struct piece *p = arena.pieces; p; p = p->next) {
        if (p->used && ends_with_context(p->block.kind) && p->block.context == context)
            p->used = false;
    }
    join_free();
    pthread_mutex_unlock(&arena.lock);
}

bool arena_can_share(void) {
    return __atomic_load_n(&arena.regions, __ATOMIC_RELAXED) < VCUDA_REGIONS_MAX - REGIONS_KEPT;
}

CUresult arena_share(struct thread *t, void *address, size_t bytes, uint32_t *region) {
    CUresult r;
    int err;

    pthread_mutex_lock(&arena.sharing);
    err = region_add(bytes, region);
    r = err ? error_of(err) : offer(*region, bytes);
    if (r == CUDA_SUCCESS)
        r = wire_share_region(t, *region, (uint64_t)address, bytes);
    pthread_mutex_unlock(&arena.sharing);
    if (r != CUDA_SUCCESS && !err)
        region_del(*region, bytes);
    return r;
}

CUresult arena_unshare(struct thread *t, uint32_t region, size_t bytes) {
    CUresult r = wire_unshare_region(t, region);

    /* One that the worker still maps cannot be used again. */
    if (r == CUDA_SUCCESS)
        region_del(region, bytes);
    return r;
}

bool arena_find(const void *address, size_t bytes, struct arena_block *block) {
    const char *a = address;
    bool found = false;

    if ((uint64_t)a < SPACE_BASE || (uint64_t)a >= SPACE_END)
        return register_find(address, bytes, block);
    pthread_mutex_lock(&arena.lock);
    for (struct piece *p = arena.pieces; p && !found; p = p->next) {
        found = p->used && p->block.kind != ARENA_STAGING && a >= p->start &&
                a < p->start + p->room && bytes <= (size_t)(p->start + p->room - a);
        if (found)
            *block = p->block;
    }
    pthread_mutex_unlock(&arena.lock);
    return found;
}

bool arena_holds(const void *p, size_t bytes) {
    struct arena_block block;

    return arena_find(p, bytes, &block);
}

bool arena_overrun(const void *p, size_t bytes) {
    struct arena_block block;

    return arena_find(p, 1, &block) && block.kind != ARENA_REGISTERED && !arena_holds(p, bytes);
}

CUresult arena_start(struct thread *t) {
    char *all = NULL;
    CUresult r = arena_alloc(t, ARENA_STAGES * STAGE_BYTES, ARENA_STAGING, 0, (void **)&all);

    if (r != CUDA_SUCCESS)
        return r;
    for (int i = 0; i < ARENA_STAGES; i++)
        arena.stages[i] = all + (size_t)i * STAGE_BYTES;
    arena.stages_free = ARENA_STAGES;
    return CUDA_SUCCESS;
}

size_t arena_stage_bytes(void) {
    return STAGE_BYTES;
}

void *arena_stage_take(bool wait) {
    void *stage = NULL;

    pthread_mutex_lock(&arena.lock);
    while (wait && !arena.stages_free)
        pthread_cond_wait(&arena.stage_freed, &arena.lock);
    if (arena.stages_free)
        stage = arena.stages[--arena.stages_free];
    pthread_mutex_unlock(&arena.lock);
    return stage;
}

void arena_stage_give(void *stage) {
    pthread_mutex_lock(&arena.lock);
    arena.stages[arena.stages_free++] = stage;
    pthread_cond_signal(&arena.stage_freed);
    pthread_mutex_unlock(&arena.lock);
}
