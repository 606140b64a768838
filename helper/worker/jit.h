/* SPDX-License-Identifier: Apache-2.0 */
/* Images to load and link, and the options of the driver's compiler: from a guest, so checked. */
#ifndef VCUDA_WORKER_JIT_H
#define VCUDA_WORKER_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_types.h"
#include "image.h"
#include "info.h"

struct worker;

/* What the driver is given: the guest's scalars, and buffers of ours for its logs. */
struct jit {
    CUjit_option options[VCUDA_JIT_OPTIONS_MAX + 5];
    void *values[VCUDA_JIT_OPTIONS_MAX + 5];
    unsigned int count;
    unsigned int info_at, error_at, wall_at; /* where the driver puts lengths and time */
    char *info, *error;
    uint32_t info_cap, error_cap;
};

/* Takes the scalars; CUDA_ERROR_INVALID_VALUE for an option with a pointer, or an unknown one. */
CUresult jit_options(struct jit *jit, const void *blob, uint32_t bytes);
/* Adds buffers for logs, zeroed, and the time; a capacity of 0: no log. */
void jit_logs(struct jit *jit, char *info, uint32_t info_cap, char *error, uint32_t error_cap);
/* Writes the answer, for which there must be room: its length. */
uint32_t jit_answer(const struct jit *jit, CUresult status, struct vcuda_module_log *log);

/*
 * A checked copy of an image in the arena: the guest can write there all the while. The caller
 * frees image->data. With `any_text` what is no other image may be any text.
 */
CUresult jit_image(struct worker *w, uint64_t address, uint64_t bytes, bool any_text,
                   struct cuda_image *image);

#endif
