/* SPDX-License-Identifier: Apache-2.0 */
/* A launch without attributes, and the buffer of its parameters as the driver is told of it. */
#ifndef VCUDA_WORKER_LAUNCH_H
#define VCUDA_WORKER_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include "cuda_types.h"

struct launch {
    CUfunction function;
    uint64_t name; /* of the function */
    uint32_t gx, gy, gz, bx, by, bz, shared;
    uint32_t thread; /* of the program, as records name it */
    size_t bytes;    /* of the parameters, laid out as the kernel has them */
    const void *params;
};

struct launch_buffer {
    void *extra[5];
};

/* NULL if there are no parameters. All three must last as long as what is returned. */
static inline void **launch_buffer(struct launch_buffer *b, const void *params,
                                   const size_t *bytes) {
    *b = (struct launch_buffer){{CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)params,
                                 CU_LAUNCH_PARAM_BUFFER_SIZE, (void *)bytes, CU_LAUNCH_PARAM_END}};
    return *bytes ? b->extra : NULL;
}

#endif
