// SPDX-License-Identifier: Apache-2.0
#include "untold.h"

#include "cuda_errors.h"

/*
 * Threads are numbered by the program, which may say anything. Of two whose numbers share a place
 * the one whose call failed last has it: the other has ended, unless a program has this many.
 */
#define PLACES 4096u

static struct {
    uint32_t thread;
    CUresult error;
} untold[PLACES];

void untold_note(uint32_t thread, CUresult result) {
    uint32_t place = thread % PLACES;

    if (result == CUDA_SUCCESS || cuda_error_is_sticky(result))
        return;
    if (untold[place].error != CUDA_SUCCESS && untold[place].thread == thread)
        return;
    untold[place].thread = thread;
    untold[place].error = result;
}

CUresult untold_take(uint32_t thread) {
    uint32_t place = thread % PLACES;
    CUresult error = untold[place].error;

    if (error == CUDA_SUCCESS || untold[place].thread != thread)
        return CUDA_SUCCESS;
    untold[place].error = CUDA_SUCCESS;
    return error;
}
