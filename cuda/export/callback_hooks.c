// SPDX-License-Identifier: Apache-2.0
/*
 * The flags by which a profiler subscribes to calls of the runtime: cudart looks at them before
 * each call. Nobody ever sets one. Sizes count entries of 32 bits.
 */
#include "export/tables.h"

#include <stddef.h>
#include <stdint.h>

static uint32_t calls[1024];
static uint32_t domains[14];

static void *get_calls(void **buffer, size_t *entries) {
    *buffer = calls;
    *entries = sizeof(calls) / sizeof(calls[0]);
    return calls;
}

static void *get_domains(void **buffer, size_t *entries) {
    *buffer = domains;
    *entries = sizeof(domains) / sizeof(domains[0]);
    return domains;
}

const void *const export_callback_hooks[7] = {
    [0] = EXPORT_SIZE(7),
    [1] = EXPORT_REFUSED,
    [2] = (const void *)get_calls,
    [3 ... 5] = EXPORT_REFUSED,
    [6] = (const void *)get_domains,
};
