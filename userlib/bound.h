/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Managed variables of code. The program could not touch the memory that the driver has for them,
 * which is the worker's. So code that has some is loaded bound to memory of the arena, which
 * program and GPU reach alike.
 */
#ifndef VCUDA_USERLIB_BOUND_H
#define VCUDA_USERLIB_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_types.h"
#include "image.h"
#include "jit.h"

struct bound;
struct thread;

/* How an image is loaded: as a module, or as a library. */
struct loading {
    uint64_t name;   /* of what comes of it */
    struct jit *jit; /* what the program asked for */
    int32_t device;  /* that it is for; -1: all */
    /* The call for an image in the arena; *status is what the driver said. */
    CUresult (*load)(struct thread *t, const struct loading *l, struct jit *jit, uint64_t address,
                     uint64_t bytes, CUresult *status);
    CUresult (*unload)(struct thread *t, uint64_t name);
};

/*
 * Loads an image, as native: *bound are its managed variables, NULL if it has none, or if what it
 * says of them is not understood: then only the GPU can reach them.
 */
CUresult bound_load(struct thread *t, const struct loading *l, const struct cuda_image *image,
                    struct bound **bound);

/*
 * Loads what is loaded already, and was not used yet, anew with its variables bound.
 * CUDA_ERROR_NOT_SUPPORTED: it cannot be, and is as it was.
 */
CUresult bound_load_again(struct thread *t, const struct loading *l, const struct cuda_image *image,
                          struct bound **bound);

/* Address and size of one of them; either pointer may be NULL. False: none has that name. */
bool bound_find(const struct bound *b, const char *name, CUdeviceptr *dptr, size_t *bytes);

/* Gives their memory back: they are no variables any more. NULL is fine. */
void bound_end(struct bound *b);

/* The same, and frees what is known of them. */
void bound_free(struct bound *b);

#endif
