// SPDX-License-Identifier: Apache-2.0
/* From an image to PTX text, and the options of loads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static CUresult copy_text(const struct cuda_image *image, struct sim_code *code) {
    code->text = malloc(image->size);
    if (!code->text)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(code->text, image->data, image->size);
    code->size = image->size;
    return CUDA_SUCCESS;
}

/* The PTX for the newest architecture that is not newer than ours. */
static CUresult best_entry(const struct cuda_image *image, struct sim_code *code) {
    struct cuda_fatbin_entry entry, best = {.sm = 0};
    struct cuda_fatbin_iter iter;
    CUresult result = cuda_fatbin_begin(image->data, image->size, &iter);

    while (result == CUDA_SUCCESS) {
        result = cuda_fatbin_next(&iter, &entry);
        if (result == CUDA_SUCCESS && entry.kind == CUDA_ENTRY_PTX && entry.sm <= SIM_ARCH &&
            entry.sm > best.sm)
            best = entry;
    }
    if (result != CUDA_ERROR_NOT_FOUND)
        return result;
    if (!best.sm)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    return cuda_fatbin_unpack(&best, &code->text, &code->size);
}

CUresult sim_image_code(const void *data, struct sim_code *code) {
    struct cuda_image image;
    CUresult result = cuda_image_measure(data, CUDA_IMAGE_UNBOUNDED, &image);

    *code = (struct sim_code){0};
    if (result != CUDA_SUCCESS)
        return result;
    switch (image.kind) {
    case CUDA_IMAGE_CUBIN:
        return sim_machine_read(&image, code);
    case CUDA_IMAGE_FATBIN:
        return best_entry(&image, code);
    default:
        return copy_text(&image, code);
    }
}

CUresult sim_jit_begin(struct sim_jit *jit, unsigned count, const CUjit_option *options,
                       void **values) {
    *jit = (struct sim_jit){.started = sim_now()};
    if (count && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if ((unsigned)options[i] >= CU_JIT_NUM_OPTIONS)
            return CUDA_ERROR_INVALID_VALUE;
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER:
            jit->error_log = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            jit->error_log_size = (unsigned)(uintptr_t)values[i];
            jit->error_log_used = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER:
            jit->info_log = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            jit->info_log_size = (unsigned)(uintptr_t)values[i];
            jit->info_log_used = &values[i];
            break;
        case CU_JIT_WALL_TIME:
            jit->wall_time = &values[i];
            break;
        default: /* how to optimise: all the same here */
            break;
        }
    }
    return CUDA_SUCCESS;
}

/* Fills a log buffer and reports the bytes in it, with the NUL; 0 for an empty log. */
static void fill_log(char *log, size_t size, void **used, const char *prefix, const char *message) {
    int length = 0;

    if (log && size) {
        log[0] = '\0';
        if (*message)
            length = snprintf(log, size, "%s%s\n", prefix, message);
        if (length >= (int)size)
            length = (int)size - 1;
    }
    if (used)
        *used = (void *)(uintptr_t)(length > 0 ? length + 1 : 0);
}

void sim_jit_end(const struct sim_jit *jit, const char *message) {
    fill_log(jit->error_log, jit->error_log_size, jit->error_log_used, "simgpu ptx input, ",
             message);
    fill_log(jit->info_log, jit->info_log_size, jit->info_log_used, "", "");
    if (jit->wall_time) { /* a float in the place of the pointer */
        float milliseconds = (float)(sim_now() - jit->started) / 1e6f;

        *jit->wall_time = NULL;
        memcpy(jit->wall_time, &milliseconds, sizeof(milliseconds));
    }
}
