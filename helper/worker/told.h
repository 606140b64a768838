/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits that the GPU itself tells the program of. To learn from the driver that an event is there
 * takes as long as a read over the bus, and then the answer has to be written; a word that the GPU
 * writes behind what is waited for is in the program's sight before either.
 */
#ifndef VCUDA_WORKER_TOLD_H
#define VCUDA_WORKER_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_types.h"

struct frame;
struct worker;

/* The word is the GPU's to write as well. With the base context current; under regions_lock. */
void told_register(struct worker *w);
/* That context is gone. */
void told_unregistered(void);
/* Where the GPU writes what is at an offset in the page of that word; 0: it cannot. Any thread. */
CUdeviceptr told_address(uint32_t offset);

/* All of a context is gone. Any thread. */
void told_forget_context(uint64_t context);

/*
 * Has the GPU tell of the frame's call when `stream`, whose context is current, has come so far, if
 * success is all that there will be to say, the program looks for it, and waits do not take so long
 * that it is as well to ask the driver: then f->told. Executor only.
 */
bool told_ask(struct worker *w, struct frame *f, CUstream stream, uint64_t stream_name,
              uint64_t context);

/* A wait for a stream took so many nanoseconds. Executor only. */
void told_learn(uint64_t waited);

/* Whether the GPU has told. What stands in the word the program may have written itself. */
bool told_yet(const struct worker *w, const struct frame *f);

/*
 * What the driver says of what the GPU is to tell: CUDA_ERROR_NOT_READY, or an error of the
 * program's work, after which the GPU tells nothing any more. Another context may be current then.
 */
CUresult told_check(struct worker *w, const struct frame *f);

/* A call is made that may give the stream of this name (0: the default one) work. Any thread. */
void told_stream_used(uint64_t stream);
/* The stream of this name is about to be destroyed. Another context may be current then. */
void told_stream_ends(struct worker *w, uint64_t stream);

/*
 * cuStreamQuery, for which a stream whose end was told of has no work from that. `context` is the
 * caller's, which is that of the default streams.
 */
CUresult told_query(struct worker *w, CUstream stream, uint64_t stream_name, uint64_t context);

#endif
