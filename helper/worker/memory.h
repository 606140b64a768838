/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory that the session holds, and the limit that its domain or user has in all
 * (account.h). What is to be allocated is taken first, then the driver is asked.
 *
 * All functions may be called by any thread; none waits for the GPU.
 */
#ifndef VCUDA_WORKER_MEMORY_H
#define VCUDA_WORKER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "owner.h"

/* What holds memory, and its key. */
enum memory_what {
    MEMORY_PLAIN = 1, /* an allocation: its address */
    MEMORY_ARRAY,     /* an array or mipmapped array: the driver's handle */
    MEMORY_CODE,      /* a module or library: the driver's handle */
    MEMORY_LIMIT,     /* heap and buffer that a context has: its name, and which limit */
    MEMORY_POOLED,    /* an allocation from a pool, which holds the memory: its address */
    MEMORY_OPENED,    /* another session's allocation, which is counted there: its address */
};

struct memory_part {
    uint64_t bytes;
    uint64_t context; /* name of the one that it ends with; 0: none */
    void *pool;       /* the driver's, for MEMORY_POOLED */
    uint32_t hold;    /* of memory that sessions share by handles (shared.h); else 0 */
    uint32_t opens;   /* how often it is open, for MEMORY_OPENED */
};

/* Once, when the session is known. Before, and without an owner, nothing is limited. */
void memory_start(struct vcuda_owner *owner, uint32_t place, uint64_t limit);

/* Takes `bytes`: false if the limit does not leave so many. */
bool memory_take(uint64_t bytes);
/* Takes them even so: what was taken turned out to be larger. */
void memory_take_over(uint64_t bytes);
void memory_give_back(uint64_t bytes);

/* Notes who holds memory that was taken. */
void memory_hold(enum memory_what what, uint64_t key, const struct memory_part *part);
/*
 * Forgets it, before the driver is told of its end: the driver may hand the same key to another
 * thread right after. The memory stays taken. False: not known.
 */
bool memory_let_go(enum memory_what what, uint64_t key, struct memory_part *part);
/* What is noted of it; false: not known. */
bool memory_held(enum memory_what what, uint64_t key, struct memory_part *part);
/* The session has a hold on it now. False: it is known no more, or is another. */
bool memory_note_hold(enum memory_what what, uint64_t key, const struct memory_part *part);
/* Forgets something that belongs to a context and that sessions share. False: there is no more. */
bool memory_let_go_shared(uint64_t context, uint64_t *key, struct memory_part *part);
/* What belongs to a context has ended with it; before, what is shared of it was let go. */
void memory_end_context(uint64_t context);
/* Allocations from a pool become plain ones, which hold their own memory: their bytes. */
uint64_t memory_leave_pool(const void *pool);

/* A device of `total` bytes as the session sees it, of which `left` are free, both in bytes. */
uint64_t memory_size(uint64_t total);
uint64_t memory_left(uint64_t left);
bool memory_limited(void);

/* What the driver hands out at least: bytes are counted in these. */
#define MEMORY_GRAIN 512u

/* Rounded up to whole grains; what no 64 bits hold becomes the most that they do. */
static inline uint64_t memory_grains(uint64_t bytes) {
    return bytes > UINT64_MAX - (MEMORY_GRAIN - 1)
               ? UINT64_MAX
               : (bytes + MEMORY_GRAIN - 1) / MEMORY_GRAIN * MEMORY_GRAIN;
}

#endif
