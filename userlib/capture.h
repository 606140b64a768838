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

/* Streams have ended, and took what was captured in them along. */
void capture_forget_ended(void);

/* A thread ends: frees what it was given lists in. */
void capture_forget_thread(struct thread *t);

#endif
