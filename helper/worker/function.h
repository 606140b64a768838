/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a function with its name, in its object's aux. */
#ifndef VCUDA_WORKER_FUNCTION_H
#define VCUDA_WORKER_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "objects.h"

/* `params`: bytes up to the end of its last parameter; `local`: bytes of local memory a thread. */
static inline uint64_t function_aux(uint64_t params, uint64_t local, bool clusters) {
    return params | local << 32 | (uint64_t)clusters << 63;
}

static inline uint32_t function_params(const struct object *function) {
    return (uint32_t)function->aux;
}

static inline uint32_t function_local(const struct object *function) {
    return (uint32_t)(function->aux >> 32) & INT32_MAX;
}

/* Whether launches of it are in clusters, by its code or by an attribute that each must have. */
static inline bool function_in_clusters(const struct object *function) {
    return function->aux >> 63;
}

#endif
