// SPDX-License-Identifier: Apache-2.0
#include "jit.h"

#include <stdlib.h>

#include "prints.h"
#include "worker.h"

static void add_option(struct jit *jit, CUjit_option option, uint64_t value) {
    jit->options[jit->count] = option;
    jit->values[jit->count++] = (void *)value;
}

/* Options with pointers would be pointers of the guest's. */
static bool option_travels(uint32_t option) {
    switch (option) {
    case CU_JIT_WALL_TIME:
    case CU_JIT_INFO_LOG_BUFFER:
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
    case CU_JIT_ERROR_LOG_BUFFER:
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
    case CU_JIT_GLOBAL_SYMBOL_NAMES:
    case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
    case CU_JIT_GLOBAL_SYMBOL_COUNT:
    case CU_JIT_REFERENCED_KERNEL_NAMES:
    case CU_JIT_REFERENCED_KERNEL_COUNT:
    case CU_JIT_REFERENCED_VARIABLE_NAMES:
    case CU_JIT_REFERENCED_VARIABLE_COUNT:
        return false;
    default:
        return option < CU_JIT_NUM_OPTIONS;
    }
}

CUresult jit_options(struct jit *jit, const void *blob, uint32_t bytes) {
    const struct vcuda_jit_option *o = blob;
    uint32_t count = bytes / (uint32_t)sizeof(*o);

    memset(jit, 0, sizeof(*jit));
    if (bytes % sizeof(*o) || count > VCUDA_JIT_OPTIONS_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < count; i++) {
        if (!option_travels(o[i].option))
            return CUDA_ERROR_INVALID_VALUE;
        add_option(jit, (CUjit_option)o[i].option, o[i].value);
    }
    return CUDA_SUCCESS;
}

void jit_logs(struct jit *jit, char *info, uint32_t info_cap, char *error, uint32_t error_cap) {
    jit->info = info;
    jit->error = error;
    jit->info_cap = info_cap;
    jit->error_cap = error_cap;
    if (info_cap) {
        add_option(jit, CU_JIT_INFO_LOG_BUFFER, (uint64_t)info);
        jit->info_at = jit->count;
        add_option(jit, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, info_cap);
    }
    if (error_cap) {
        add_option(jit, CU_JIT_ERROR_LOG_BUFFER, (uint64_t)error);
        jit->error_at = jit->count;
        add_option(jit, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, error_cap);
    }
    jit->wall_at = jit->count;
    add_option(jit, CU_JIT_WALL_TIME, 0);
}

static uint32_t log_length(const struct jit *jit, unsigned int at, uint32_t cap) {
    uint32_t len = cap ? (uint32_t)(uintptr_t)jit->values[at] : 0;

    return len < cap ? len : cap;
}

uint32_t jit_answer(const struct jit *jit, CUresult status, struct vcuda_module_log *log) {
    char *text = (char *)(log + 1);

    log->status = status;
    log->info_bytes = log_length(jit, jit->info_at, jit->info_cap);
    log->error_bytes = log_length(jit, jit->error_at, jit->error_cap);
    memcpy(&log->wall_ms, &jit->values[jit->wall_at], sizeof(log->wall_ms));
    if (log->info_bytes)
        memcpy(text, jit->info, log->info_bytes);
    if (log->error_bytes)
        memcpy(text + log->info_bytes, jit->error, log->error_bytes);
    return (uint32_t)sizeof(*log) + log->info_bytes + log->error_bytes;
}

/* The image is copied before it is looked at: the guest can write to the arena all the while. */
CUresult jit_image(struct worker *w, uint64_t address, uint64_t bytes, bool any_text,
                   struct cuda_image *image) {
    void *copy;
    CUresult r;

    if (!bytes || bytes > CUDA_IMAGE_MAX || !regions_hold(w, address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    copy = malloc(bytes);
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(copy, (const void *)address, bytes);
    r = cuda_image_measure(copy, bytes, image);
    if (r == CUDA_ERROR_INVALID_IMAGE && any_text)
        r = cuda_image_measure_text(copy, bytes, image);
    if (r != CUDA_SUCCESS)
        free(copy);
    else
        prints_image(image);
    return r;
}
