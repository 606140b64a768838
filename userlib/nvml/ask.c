// SPDX-License-Identifier: Apache-2.0
#include "ask.h"

#include <string.h>

#include "nvml_calls.h"
#include "nvml_link.h"
#include "wire.h"

nvmlReturn_t ask_device(nvmlDevice_t device, int *index) {
    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    *index = link_index(device);
    if (*index < 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    return device->gone ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}

nvmlReturn_t ask_begin(const struct ask *a) {
    nvmlReturn_t r = NVML_SUCCESS;
    int index;

    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (a->wants_device)
        r = ask_device(a->device, &index);
    if (r == NVML_SUCCESS && a->wants_other)
        r = ask_device(a->other, &index);
    return r;
}

nvmlReturn_t ask_worker(ask_call *call, void *arg) {
    for (int tries = 0; tries < 2; tries++) {
        int32_t answered = 0;
        struct thread *t;
        nvmlReturn_t result = link_enter(&t);
        CUresult r;

        if (result != NVML_SUCCESS)
            return result;
        r = call(t, arg, &answered);
        link_leave();
        if (r == CUDA_SUCCESS)
            return (nvmlReturn_t)answered;
        if (r != VCUDA_ERROR_LOST)
            return NVML_ERROR_UNKNOWN;
        link_lost();
    }
    return NVML_ERROR_GPU_IS_LOST;
}

static CUresult query(struct thread *t, void *arg, int32_t *result) {
    const struct ask *a = arg;
    uint32_t len = 0;
    CUresult r = wire_nvml_query(t, a->wants_device ? link_index(a->device) : 0,
                                 a->wants_other ? link_index(a->other) : 0, a->numbers[0],
                                 a->numbers[1], a->numbers[2], a->name, a->in, a->in_bytes, result,
                                 a->answer, a->answer_bytes, &len);

    if (r == CUDA_SUCCESS && *result == NVML_SUCCESS && len != a->answer_bytes)
        *result = NVML_ERROR_UNKNOWN;
    return r;
}

nvmlReturn_t ask(const struct ask *a) {
    nvmlReturn_t r = ask_worker(query, (void *)a);

    if (r != NVML_SUCCESS)
        guest_log("%s: %s", a->name, nvmlErrorString(r));
    return r;
}

void ask_copy(void *list, unsigned int room, const void *entries, unsigned int count, size_t size) {
    memcpy(list, entries, (count < room ? count : room) * size);
}

nvmlReturn_t ask_text(char *out, unsigned int length, const char *text, size_t size) {
    size_t bytes = strnlen(text, size);

    if (bytes >= length)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    memcpy(out, text, bytes);
    out[bytes] = 0;
    return NVML_SUCCESS;
}

static nvmlReturn_t tell(const char *name, nvmlReturn_t r) {
    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    guest_log("%s: %s", name, nvmlErrorString(r));
    return r;
}

nvmlReturn_t ask_change(const char *name) {
    return tell(name, NVML_ERROR_NO_PERMISSION);
}

nvmlReturn_t ask_refused(const char *name) {
    return tell(name, NVML_ERROR_NOT_SUPPORTED);
}
