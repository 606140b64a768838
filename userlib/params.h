/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a kernel wants its parameters, and parameters as a program gives them, laid out like that. In
 * line is what every launch does.
 */
#ifndef VCUDA_USERLIB_PARAMS_H
#define VCUDA_USERLIB_PARAMS_H

#include <stdint.h>
#include <string.h>

#include "cuda_types.h"
#include "info.h"
#include "likely.h"

struct parameter {
    uint32_t offset;
    uint32_t size;
    uint32_t gap; /* after it, to the next one or what 8 divides: bytes to clear */
};

/* How a kernel wants its parameters. */
struct layout {
    uint32_t params;
    uint32_t bytes; /* up to the end of the last one */
    uint32_t lead;  /* before the first one */
    struct parameter *param;
};

/*
 * Takes what the worker said of a function into a zeroed layout, whose `param` is the caller's to
 * free, whatever comes of it. VCUDA_ERROR_LOST: it was nonsense.
 */
CUresult params_take(struct layout *l, const struct vcuda_function_info *info, uint32_t len);

/* Answers cuFuncGetParamInfo and cuKernelGetParamInfo. */
CUresult params_answer(const struct layout *l, size_t index, size_t *offset, size_t *size);

/*
 * `extra`: one buffer that is laid out already; NCCL leaves off the end that a kernel does not
 * read.
 */
SELDOM CUresult params_extra(const struct layout *l, void **extra, uint8_t *to);
SELDOM void params_clear(uint8_t *to, uint32_t size);

/* Most are pointers and numbers. */
static inline void params_copy(uint8_t *to, const void *from, uint32_t size) {
    if (likely(size == 8))
        memcpy(to, from, 8);
    else if (size == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, size);
}

/* Most are those before a pointer. */
static inline void params_clear_gap(uint8_t *to, uint32_t size) {
    if (likely(size == 4))
        memset(to, 0, 4);
    else
        memset(to, 0, size);
}

/* One pointer a parameter, to where the kernel wants them. */
static inline CUresult params_gather(const struct layout *l, void **kernel_params, uint8_t *to) {
    const struct parameter *p = l->param, *end = p + l->params;

    if (unlikely(!kernel_params))
        return p == end ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (; p < end; p++, kernel_params++) {
        if (unlikely(!*kernel_params))
            return CUDA_ERROR_INVALID_VALUE;
        params_copy(to + p->offset, *kernel_params, p->size);
        if (unlikely(p->gap))
            params_clear_gap(to + p->offset + p->size, p->gap);
    }
    /* Last, when nothing else is in registers any more. */
    if (unlikely(l->lead))
        params_clear(to, l->lead);
    return CUDA_SUCCESS;
}

/* Lays the parameters out in `buffer`, of l->bytes padded to 8; what lies between them is 0. */
static inline CUresult params_put(const struct layout *l, void **kernel_params, void **extra,
                                  void *buffer) {
    return unlikely(extra) ? params_extra(l, extra, buffer)
                           : params_gather(l, kernel_params, buffer);
}

#endif
