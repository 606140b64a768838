/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream captures of this process, and what its threads may do meanwhile. The worker makes all
 * calls on a thread of its own, so that the driver cannot keep these rules.
 */
#ifndef VCUDA_USERLIB_CAPTURE_H
#define VCUDA_USERLIB_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "barrier.h"
#include "cuda_types.h"

struct thread;

/* Captures of this process. */
extern uint32_t capture_count;

/* Whether any capture is under way: then nothing is posted, since errors must be told at once. */
static inline bool capture_any(void) {
    return vcuda_load_once(&capture_count) != 0;
}

/*
 * What native says of a call that could upset a capture: CUDA_SUCCESS, or
 * CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, after which the captures that forbid it are invalid.
 */
CUresult capture_forbids(struct thread *t);
/* The same of a call in a stream: in a captured one it is part of the capture, or the driver's
 * affair. */
CUresult capture_forbids_on(struct thread *t, uint64_t stream);

/* The name of the graph that a stream is captured into; 0: it is not captured. */
uint64_t capture_graph(struct thread *t, uint64_t stream);

/*
 * Notes of a graph that is captured end with the capture, if that comes to nothing.
 * CUDA_ERROR_OUT_OF_MEMORY: they do not.
 */
CUresult capture_remember(uint64_t graph);
/* The node that the stream's capture goes on from, which is the last one there; 0: not known. */
uint64_t capture_last_node(struct thread *t, uint64_t stream);

/* Streams have ended, and took what was captured in them along. */
void capture_forget_ended(void);

/*
 * The capture of a stream goes on from these nodes as well, from nodes[from] on; data: of the
 * edges, or NULL.
 */
CUresult capture_depend(struct thread *t, uint64_t stream, const CUgraphNode *nodes,
                        const CUgraphEdgeData *data, size_t from, size_t count);

/* A thread ends, and frees what it was given lists in. */
void capture_forget_thread(struct thread *t);
void capture_forget_lists(struct thread *t);

#endif
