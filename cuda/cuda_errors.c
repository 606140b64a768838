// SPDX-License-Identifier: Apache-2.0
#include "cuda_errors.h"

struct error_text {
    CUresult code;
    const char *name;
    const char *message;
};

static const struct error_text texts[] = {
#define ERROR_TEXT(name, value, message) {name, #name, message},
    CUDA_LIST_ERRORS(ERROR_TEXT)
#undef ERROR_TEXT
};

static const struct error_text *find(CUresult error) {
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i].code == error)
            return &texts[i];
    return NULL;
}

const char *cuda_error_name(CUresult error) {
    const struct error_text *text = find(error);

    return text ? text->name : NULL;
}

const char *cuda_error_string(CUresult error) {
    const struct error_text *text = find(error);

    return text ? text->message : NULL;
}

bool cuda_error_of_capture(CUresult r) {
    return r >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
           r <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

bool cuda_error_is_sticky(CUresult r) {
    return r == CUDA_ERROR_ILLEGAL_ADDRESS || r == CUDA_ERROR_LAUNCH_TIMEOUT ||
           r == CUDA_ERROR_ASSERT ||
           (r >= CUDA_ERROR_HARDWARE_STACK_ERROR && r <= CUDA_ERROR_LAUNCH_FAILED) ||
           r == CUDA_ERROR_ECC_UNCORRECTABLE;
}
