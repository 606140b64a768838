/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory whose addresses the driver chooses, kept apart from the
 * program's own mappings.
 */
#ifndef VCUDA_USERLIB_APART_H
#define VCUDA_USERLIB_APART_H

#include <stdint.h>

#include "cuda_types.h"
#include "ranges.h"

struct thread;

/* How memory of one kind is had and given back; `arg` is the caller's. */
struct apart {
    enum range_kind kind;
    uint64_t context; /* that it ends with; 0: none */
    CUresult (*alloc)(struct thread *t, void *arg, uint64_t *address, uint64_t *bytes);
    CUresult (*free)(struct thread *t, void *arg, uint64_t address);
};

/*
 * Allocates until an address comes that the program does not use, and notes it.
 * CUDA_ERROR_OUT_OF_MEMORY if all that come collide.
 */
CUresult apart_alloc(struct thread *t, const struct apart *how, void *arg, uint64_t *address);

#endif
