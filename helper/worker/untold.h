/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors of posted calls. Natively the call itself tells its error, so it belongs to the thread
 * that made it: its next waited call tells it. Any thread.
 */
#ifndef VCUDA_WORKER_UNTOLD_H
#define VCUDA_WORKER_UNTOLD_H

#include <stdbool.h>

#include "cuda_types.h"

/*
 * A posted call of the thread ended so. The first error stays until it is told. One after which the
 * driver answers all calls of the context with the same is told by these.
 */
void untold_note(uint32_t thread, CUresult result);

/* Whether the thread has one to be told. Those who share its place count. */
bool untold_any(uint32_t thread);

/* The thread's error, which is told now; CUDA_SUCCESS: there is none. */
CUresult untold_take(uint32_t thread);

#endif
