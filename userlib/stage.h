/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of pageable memory, in pieces through the arena's staging areas, so that our copy of one
 * piece and the GPU's of another overlap.
 */
#ifndef VCUDA_USERLIB_STAGE_H
#define VCUDA_USERLIB_STAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "rpc.h"

/* A piece of a copy: a box, dense in its staging area. */
struct stage_piece {
    struct rpc rpc;
    char *stage;
    size_t x, y, z;             /* where it begins in the copy: bytes, rows, slices */
    size_t width, rows, slices; /* how far it goes */
    bool only;                  /* nothing else of the copy is under way with it */
};

/* A copy: its extent (none 0), and what to do with a piece. */
struct stage_job {
    size_t width, rows, slices;
    /* Fills the staging area where data goes up, and sends a waited call. */
    CUresult (*send)(struct stage_job *job, struct stage_piece *piece);
    /* Takes what came down, once the call is done; NULL where data goes up. */
    void (*land)(struct stage_job *job, struct stage_piece *piece);
    bool end_first; /* the end of the last row goes before all else: does the copy fit an array? */
};

/* Whether a copy of so many bytes goes in more than one piece. */
bool stage_splits(size_t bytes);

/*
 * Before a copy in pieces begins: whether these bytes are the driver's memory as a whole, as it is
 * asked. Natively a copy that does not fit leaves all as it was.
 */
CUresult stage_fits(struct thread *t, uint64_t address, uint64_t bytes);

/* Returns when all is copied, with the first error. As many pieces are under way as can be. */
CUresult stage_run(struct stage_job *job);

#endif
