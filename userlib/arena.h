/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory that program, worker and GPU share at one address: what
 * cuMemHostAlloc gives, and the staging areas of pageable copies.
 */
#ifndef VCUDA_USERLIB_ARENA_H
#define VCUDA_USERLIB_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_types.h"

struct thread;

enum arena_kind {
    ARENA_PINNED,     /* cuMemHostAlloc */
    ARENA_MANAGED,    /* cuMemAllocManaged */
    ARENA_REGISTERED, /* cuMemHostRegister: at the program's own address, see register.h */
    ARENA_VARIABLES,  /* managed variables of code */
    ARENA_STAGING,    /* the library's own */
};

struct arena_block {
    char *start;
    size_t size;        /* as asked for */
    unsigned int flags; /* those of the call that made it */
    enum arena_kind kind;
    uint64_t context; /* pinned and managed: current when it was made */
};

/* Makes the staging areas. Once, at the start of the session. */
CUresult arena_start(struct thread *t);

/*
 * `bytes` of it, page-aligned, grown on demand: CUDA_ERROR_OUT_OF_MEMORY over a limit. Pinned
 * and managed memory belongs to the thread's context.
 */
CUresult arena_alloc(struct thread *t, size_t bytes, enum arena_kind kind, unsigned int flags,
                     void **out);

/* CUDA_ERROR_INVALID_VALUE unless p is the start of a block of that kind. */
CUresult arena_free(void *p, enum arena_kind kind);

/*
 * Gives back regions that nobody uses, but for some. Once the GPU has done with what was freed in
 * the thread's context.
 */
void arena_shrink(struct thread *t);

/* Whether there is a region left for memory of the program's. */
bool arena_can_share(void);

/*
 * Has the worker map a fresh region at an address of the program's choice, and the driver register
 * it; here it is mapped by the caller. CUDA_ERROR_OUT_OF_MEMORY: one of them cannot.
 */
CUresult arena_share(struct thread *t, void *address, size_t bytes, uint32_t *region);
/* Ends such a region, on both sides; here it is unmapped already. */
CUresult arena_unshare(struct thread *t, uint32_t region, size_t bytes);

/* Ends the pinned and managed memory of a context. */
void arena_forget(uint64_t context);

/*
 * The program's block that holds all of [p, p+bytes), registered memory included: true, and a copy
 * in *block.
 */
bool arena_find(const void *p, size_t bytes, struct arena_block *block);

/* Whether a block holds all of [p, p+bytes). */
bool arena_holds(const void *p, size_t bytes);

/*
 * Whether a block begins to hold [p, p+bytes), and ends within: as the driver, no call goes beyond.
 * Not of registered memory, of which the program may have registered several pieces.
 */
bool arena_overrun(const void *p, size_t bytes);

/*
 * Staging areas: a fixed number, each of arena_stage_bytes(). Waits until one is free, or gives
 * NULL: who holds one already must not wait for another.
 */
#define ARENA_STAGES 4
size_t arena_stage_bytes(void);
void *arena_stage_take(bool wait);
void arena_stage_give(void *stage);

#endif
