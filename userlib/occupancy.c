// SPDX-License-Identifier: Apache-2.0
/* Occupancy: how many blocks of a function run at a time. A CUkernel is taken too. */
#include "code.h"
#include "cuda_calls.h"
#include "wire.h"

static CUresult enter(struct thread **t, const void *out, CUfunction func, struct function **f) {
    CUresult r = guest_enter(t);

    if (r != CUDA_SUCCESS)
        return r;
    return out ? function_resolve(*t, func, f) : CUDA_ERROR_INVALID_VALUE;
}

VCUDA_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize, unsigned int flags) {
    struct function *f;
    struct thread *t;
    CUresult r = enter(&t, numBlocks, func, &f);

    return r == CUDA_SUCCESS ? wire_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                                   t, numBlocks, f->name, blockSize, dynamicSMemSize, flags)
                             : r;
}

VCUDA_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
                                                                  int blockSize,
                                                                  size_t dynamicSMemSize) {
    struct function *f;
    struct thread *t;
    CUresult r = enter(&t, numBlocks, func, &f);

    return r == CUDA_SUCCESS ? wire_cuOccupancyMaxActiveBlocksPerMultiprocessor(
                                   t, numBlocks, f->name, blockSize, dynamicSMemSize)
                             : r;
}

VCUDA_EXPORT CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize,
                                                              CUfunction func, int numBlocks,
                                                              int blockSize) {
    struct function *f;
    struct thread *t;
    CUresult r = enter(&t, dynamicSmemSize, func, &f);

    return r == CUDA_SUCCESS ? wire_cuOccupancyAvailableDynamicSMemPerBlock(
                                   t, (uint64_t *)dynamicSmemSize, f->name, numBlocks, blockSize)
                             : r;
}
