// SPDX-License-Identifier: Apache-2.0
#include "apart.h"

#include "descriptor.h"

/* Times that another address is asked for where the program has a mapping of its own. */
#define COLLISIONS_MAX 8

/* One that collides is kept aside until another is found, and then given back. */
CUresult apart_alloc(struct thread *t, const struct apart *how, void *arg, uint64_t *address) {
    uint64_t aside[COLLISIONS_MAX];
    int collisions = 0;
    CUresult r;

    for (;;) {
        uint64_t bytes;

        r = how->alloc(t, arg, address, &bytes);
        /* What nobody can open any more may still take memory. */
        if (r == CUDA_ERROR_OUT_OF_MEMORY && descriptor_sweep(t))
            r = how->alloc(t, arg, address, &bytes);
        if (r != CUDA_SUCCESS || ranges_add(how->kind, *address, bytes, how->context))
            break;
        aside[collisions++] = *address;
        if (collisions == COLLISIONS_MAX) {
            r = CUDA_ERROR_OUT_OF_MEMORY;
            break;
        }
    }
    while (collisions--)
        how->free(t, arg, aside[collisions]);
    return r;
}
