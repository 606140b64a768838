/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the program may be ahead of the GPU in a stream. Natively a stream takes some 1020
 * calls, and whoever makes one more waits for room in it. Here the call that waited would be
 * the worker's, and hold up all other threads: so nothing is posted into a stream that is so full.
 *
 * The GPU tells how far it has come: now and then a mark is posted, whose number it writes into a
 * word of that stream's (VCUDA_AHEAD_OFFSET).
 */
#ifndef VCUDA_USERLIB_AHEAD_H
#define VCUDA_USERLIB_AHEAD_H

#include "guest.h"
#include "likely.h"
#include "rpc.h"

/* For a new session, whose rings these are; `words`: whether its worker knows of marks. */
void ahead_attach(const void *rings, bool words);

/* A new stream of this name, or the default ones (0) of a new context. */
void ahead_begin(uint64_t context, uint64_t stream);

/*
 * Counts what the thread has posted lately into the stream of this name, and waits if that is far
 * ahead. CUDA_SUCCESS, or what became of the stream meanwhile.
 */
SELDOM CUresult ahead_count(struct thread *t, uint64_t stream);

/* The thread has posted a call into the stream. */
static inline CUresult ahead_posted(struct thread *t, uint64_t stream) {
    return likely(--t->until_counted) ? CUDA_SUCCESS : ahead_count(t, stream);
}

/* Posts a call that the stream takes, and is no launch. */
static inline CUresult ahead_send(struct thread *t, uint64_t stream, struct rpc *rpc) {
    CUresult r = rpc_post(rpc);

    return likely(r == CUDA_SUCCESS) ? ahead_posted(t, stream) : r;
}

#endif
