// SPDX-License-Identifier: Apache-2.0
#include "untold.h"

#include <pthread.h>

#include "barrier.h"
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
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void untold_note(uint32_t thread, CUresult result) {
    uint32_t place = thread % PLACES;

    if (result == CUDA_SUCCESS || cuda_error_is_sticky(result))
        return;
    pthread_mutex_lock(&lock);
    if (untold[place].error == CUDA_SUCCESS || untold[place].thread != thread) {
        untold[place].thread = thread;
        vcuda_store_once(&untold[place].error, result);
    }
    pthread_mutex_unlock(&lock);
}

/* Without the lock: what this thread posted was noted before its waited call came here. */
bool untold_any(uint32_t thread) {
    return vcuda_load_once(&untold[thread % PLACES].error) != CUDA_SUCCESS;
}

/* Seldom: not in the body of what every call goes through. */
static __attribute__((noinline)) CUresult take(uint32_t thread) {
    uint32_t place = thread % PLACES;
    CUresult error = CUDA_SUCCESS;

    pthread_mutex_lock(&lock);
    if (untold[place].thread == thread) {
        error = untold[place].error;
        vcuda_store_once(&untold[place].error, CUDA_SUCCESS);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

CUresult untold_take(uint32_t thread) {
    return untold_any(thread) ? take(thread) : CUDA_SUCCESS;
}
