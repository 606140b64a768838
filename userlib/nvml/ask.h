/* SPDX-License-Identifier: Apache-2.0 */
/* A question to the host's NVML; what the functions made from nvml.tbl are made of. */
#ifndef VCUDA_NVML_ASK_H
#define VCUDA_NVML_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest.h"
#include "nvml_types.h"

struct ask {
    const char *name; /* of the function */
    nvmlDevice_t device, other;
    bool wants_device, wants_other;
    uint64_t numbers[3];
    const void *in; /* structures that go in */
    uint32_t in_bytes;
    void *answer;
    uint32_t answer_bytes;
};

/* What every function checks first: initialised, and its devices are some. */
nvmlReturn_t ask_begin(const struct ask *a);

/* Asks. The answer is there on success, and for lists with NVML_ERROR_INSUFFICIENT_SIZE. */
nvmlReturn_t ask(const struct ask *a);

/* A call of the session: CUDA_SUCCESS, and what the worker answered. */
typedef CUresult ask_call(struct thread *t, void *arg, int32_t *result);

/*
 * Makes it. When the session turns out to have ended it is made anew and the call again, once: a
 * question changes nothing.
 */
nvmlReturn_t ask_worker(ask_call *call, void *arg);

/* The same check for functions written by hand: *index is the device's. */
nvmlReturn_t ask_device(nvmlDevice_t device, int *index);

/* The number that says how large a caller's list is, and whether it gave an array. */
static inline uint64_t ask_room(unsigned int count, const void *array) {
    return array ? (uint64_t)1 << 32 | count : count;
}

/* Copies the entries that there are, at most as many as there is room for. */
void ask_copy(void *list, unsigned int room, const void *entries, unsigned int count, size_t size);

/* Gives a text that lies in `size` bytes; NVML_ERROR_INSUFFICIENT_SIZE if it does not fit whole. */
nvmlReturn_t ask_text(char *out, unsigned int length, const char *text, size_t size);

/* NVML_ERROR_NO_PERMISSION and NVML_ERROR_NOT_SUPPORTED, once initialised, for the function. */
nvmlReturn_t ask_change(const char *name);
nvmlReturn_t ask_refused(const char *name);

#endif
