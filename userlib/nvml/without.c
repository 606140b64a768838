// SPDX-License-Identifier: Apache-2.0
/*
 * What the calls through the rings ask of the CUDA library's other parts, in a library that has no
 * contexts, captures nothing, and gives the worker no functions to call.
 */
#include "capture.h"
#include "guest.h"
#include "hostfunc.h"

uint32_t capture_count;

CUresult capture_forbids(struct thread *t) {
    (void)t;
    return CUDA_SUCCESS;
}

CUresult capture_forbids_on(struct thread *t, uint64_t stream) {
    (void)t;
    (void)stream;
    return CUDA_SUCCESS;
}

/* Whoever calls one lies. */
bool hostfunc_called(const struct message *m) {
    (void)m;
    return false;
}
