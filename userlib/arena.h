/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory that program, worker and GPU share at one address: what
 * cuMemHostAlloc gives, and the staging areas of pageable copies.
 */
#ifndef VCUDA_USERLIB_ARENA_H
#define VCUDA_USERLIB_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda_types.h"

struct thread;

struct arena_block {
    char *start;
    size_t size;        /* as asked for */
    unsigned int flags; /* CU_MEMHOSTALLOC_* */
    bool staging;       /* the library's own */
};

/* Makes the staging areas. Once, at the start of the session. */
CUresult arena_start(struct thread *t);

/* `bytes` of it, page-aligned, grown on demand: CUDA_ERROR_OUT_OF_MEMORY over a limit. */
CUresult arena_alloc(struct thread *t, size_t bytes, unsigned int flags, void **out);

/* CUDA_ERROR_INVALID_VALUE unless p is the start of a block. */
CUresult arena_free(void *p);

/* The program's block that holds all of [p, p+bytes): true, and a copy in *block. */
bool arena_find(const void *p, size_t bytes, struct arena_block *block);

/*
 * Staging areas: a fixed number, each of arena_stage_bytes(). Waits until one is free, or gives
 * NULL: who holds one already must not wait for another.
 */
#define ARENA_STAGES 4
size_t arena_stage_bytes(void);
void *arena_stage_take(bool wait);
void arena_stage_give(void *stage);

#endif
