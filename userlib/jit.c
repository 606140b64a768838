// SPDX-License-Identifier: Apache-2.0
#include "jit.h"

#include <string.h>

#include "guest.h"

static uint32_t log_size(void *value) {
    size_t size = (unsigned int)(uintptr_t)value;

    return size < VCUDA_JIT_LOG_MAX / 2 ? (uint32_t)size : VCUDA_JIT_LOG_MAX / 2;
}

/* The value of an option sits in the pointer-sized element itself, as the API has it. */
CUresult jit_read(struct jit *jit, unsigned int count, const CUjit_option *options, void **values) {
    memset(jit, 0, sizeof(*jit));
    if (count && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count; i++) {
        switch (options[i]) {
        case CU_JIT_INFO_LOG_BUFFER:
            jit->info = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            jit->info_size = log_size(values[i]);
            jit->info_size_out = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER:
            jit->error = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            jit->error_size = log_size(values[i]);
            jit->error_size_out = &values[i];
            break;
        case CU_JIT_WALL_TIME:
            jit->wall_out = &values[i];
            break;
        case CU_JIT_GLOBAL_SYMBOL_NAMES:
        case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
        case CU_JIT_GLOBAL_SYMBOL_COUNT:
        case CU_JIT_REFERENCED_KERNEL_NAMES:
        case CU_JIT_REFERENCED_VARIABLE_NAMES:
            return CUDA_ERROR_NOT_SUPPORTED;
        default:
            if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS ||
                jit->scalar_count == VCUDA_JIT_OPTIONS_MAX)
                return CUDA_ERROR_INVALID_VALUE;
            jit->scalars[jit->scalar_count++] =
                (struct vcuda_jit_option){options[i], 0, (uint64_t)(uintptr_t)values[i]};
        }
    }
    return CUDA_SUCCESS;
}

bool jit_wants_answer(const struct jit *jit) {
    return jit->info || jit->error || jit->info_size_out || jit->error_size_out || jit->wall_out;
}

uint32_t jit_info_cap(const struct jit *jit) {
    return jit->info ? jit->info_size : 0;
}

uint32_t jit_error_cap(const struct jit *jit) {
    return jit->error ? jit->error_size : 0;
}

uint32_t jit_scalar_bytes(const struct jit *jit) {
    return jit->scalar_count * (uint32_t)sizeof(jit->scalars[0]);
}

/* Programs print them as text, also where there was nothing to say. */
static void give_log(char *to, uint32_t room, const char *text, uint32_t bytes) {
    if (!to)
        return;
    memcpy(to, text, bytes);
    if (bytes < room)
        to[bytes] = 0;
}

CUresult jit_give(struct jit *jit, const void *answer, uint32_t len) {
    const struct vcuda_module_log *log = answer;
    const char *text = (const char *)(log + 1);
    uint32_t room = len - (uint32_t)sizeof(*log);

    if (len < sizeof(*log) || log->info_bytes > room || log->error_bytes > room - log->info_bytes ||
        log->info_bytes > jit->info_size || log->error_bytes > jit->error_size)
        return VCUDA_ERROR_LOST;
    give_log(jit->info, jit->info_size, text, log->info_bytes);
    give_log(jit->error, jit->error_size, text + log->info_bytes, log->error_bytes);
    if (jit->info_size_out)
        *jit->info_size_out = (void *)(uintptr_t)log->info_bytes;
    if (jit->error_size_out)
        *jit->error_size_out = (void *)(uintptr_t)log->error_bytes;
    if (jit->wall_out)
        memcpy(jit->wall_out, &log->wall_ms, sizeof(log->wall_ms));
    return (CUresult)log->status;
}
