/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the JIT compiler and linker: scalars travel, logs and numbers come back. */
#ifndef VCUDA_USERLIB_JIT_H
#define VCUDA_USERLIB_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_types.h"
#include "info.h"

struct jit {
    struct vcuda_jit_option scalars[VCUDA_JIT_OPTIONS_MAX];
    uint32_t scalar_count;
    /* the caller's: buffers, and the elements of its list of values where results go */
    char *info, *error;
    uint32_t info_size, error_size;
    void **info_size_out, **error_size_out, **wall_out;
};

/* Room for the answer of a call that gives logs back. */
#define JIT_ANSWER_BYTES (sizeof(struct vcuda_module_log) + VCUDA_JIT_LOG_MAX)

/*
 * Takes a caller's list apart. *jit points into it afterwards. CUDA_ERROR_INVALID_VALUE for an
 * option that there is not, CUDA_ERROR_NOT_SUPPORTED for one whose value is a list of pointers.
 */
CUresult jit_read(struct jit *jit, unsigned int count, const CUjit_option *options, void **values);

/* Whether the caller wants to hear anything of the compilation. */
bool jit_wants_answer(const struct jit *jit);
/* Bytes of log that are wanted back. */
uint32_t jit_info_cap(const struct jit *jit);
uint32_t jit_error_cap(const struct jit *jit);
/* Bytes of the scalars, as a blob. */
uint32_t jit_scalar_bytes(const struct jit *jit);

/*
 * Gives the logs and numbers of a compilation to the caller, also of one that failed: the driver's
 * result. `len` bytes of answer as the worker wrote them.
 */
CUresult jit_give(struct jit *jit, const void *answer, uint32_t len);

#endif
