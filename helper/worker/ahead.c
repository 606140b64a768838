// SPDX-License-Identifier: Apache-2.0
/*
 * Marks in streams, by which the program knows how far it is ahead of the GPU there. It waits where
 * natively the driver's next call would: here that call would hold up all of its threads.
 */
#include "barrier.h"
#include "told.h"
#include "worker.h"

static bool gpu_writes(struct worker *w, const struct frame *f, const struct args_stream_mark *a,
                       uint32_t offset) {
    CUdeviceptr to = told_address(offset);
    uint64_t context = f->head.ctx;
    struct object s;

    /* In a graph that is captured there is no place for it. */
    if (!to || capture_any())
        return false;
    if (objects_get(&w->objects, VCUDA_KIND_STREAM, a->stream_name, &s))
        context = s.owner;
    return worker_use_context(w, context) == CUDA_SUCCESS &&
           w->driver.cuStreamWriteValue32_v2(a->stream, to, a->number, 0) == CUDA_SUCCESS;
}

/* Where the GPU does not write, nobody shall wait for it. */
CUresult own_stream_mark(struct worker *w, struct frame *f, struct args_stream_mark *a) {
    uint32_t offset = VCUDA_AHEAD_OFFSET + a->word * (uint32_t)sizeof(uint32_t);

    if (a->word >= VCUDA_AHEAD_WORDS)
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpu_writes(w, f, a, offset))
        vcuda_store_once((uint32_t *)((uint8_t *)w->link.rings + offset), a->number);
    return CUDA_SUCCESS;
}
