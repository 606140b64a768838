/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Managed variables of machine code. A driver puts them where its own process reaches them. Bound,
 * they lie in a block of memory that others chose: the code refers to it by its address, which is
 * written in place of the relocations that the driver would have carried out.
 *
 * Nothing in the code is trusted: what comes from a guest is bound with this.
 */
#ifndef VCUDA_CUDA_CUBIN_H
#define VCUDA_CUDA_CUBIN_H

#include <stddef.h>
#include <stdint.h>

#include "cuda_types.h"

struct cuda_managed {
    const char *name; /* in the code */
    uint64_t offset;  /* in the block */
    uint64_t size;
};

/*
 * The managed variables of a cubin of `size` bytes, in the order of its symbols: *list is the
 * caller's to free, *block how many bytes they take together; *count may be 0.
 * CUDA_ERROR_INVALID_IMAGE: no cubin, or damaged. CUDA_ERROR_OUT_OF_MEMORY.
 */
CUresult cuda_managed_list(const void *cubin, size_t size, struct cuda_managed **list,
                           unsigned int *count, uint64_t *block);

/*
 * Binds them to `block` bytes at `base`, as cuda_managed_list counts them, and fills these with the
 * values that they begin with. CUDA_ERROR_NOT_SUPPORTED: the code refers to one of them in a way
 * that is not known here; nothing of it can be used then.
 */
CUresult cuda_managed_bind(void *cubin, size_t size, void *base, uint64_t block);

#endif
