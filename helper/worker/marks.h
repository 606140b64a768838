/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks in streams: an event, and before it a word of memory that the GPU writes when it comes by.
 * The word is seen half a microsecond before the event says so, and looking at it costs no call of
 * the driver's; what went wrong only the event tells. (Measured on an H200: launch and wait 8.4 us
 * by the word, 9.1 by the event or by the driver's own wait; a question to an event 0.45 us.)
 */
#ifndef VCUDA_WORKER_MARKS_H
#define VCUDA_WORKER_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_types.h"

struct worker;
struct mark;

/* Makes the memory for the words, before the first call. Without it events have to do. */
void marks_start(struct worker *w);

/*
 * Puts a mark behind what `stream` of the context of this name, which is current, holds now. The
 * caller gives it back. Executor only.
 */
CUresult marks_set(struct worker *w, uint64_t context, CUstream stream, struct mark **mark);

/* CUDA_ERROR_NOT_READY while the GPU has not come by; else how it went. `now`: of vcuda_now_ns().
 */
CUresult marks_look(struct worker *w, struct mark *m, uint64_t now);

/* The same, waiting for what is just about to end, as a program's wait in the driver does. */
CUresult marks_wait(struct worker *w, const struct mark *m);

/* It is free for another wait. */
void marks_give(struct worker *w, struct mark *m);

/* Forgets those kept for a context that ended. Any thread. */
void marks_forget_context(uint64_t context);

#endif
