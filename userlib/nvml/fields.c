// SPDX-License-Identifier: Apache-2.0
/* Fields: many numbers at once, each with its own result. */
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "info.h"
#include "nvml_link.h"
#include "nvml_calls.h"
#include "wire.h"

struct asked {
    int index; /* of the device */
    uint32_t count;
    uint32_t fields[2 * VCUDA_NVML_FIELDS_MAX]; /* number and scope of each */
    nvmlFieldValue_t values[VCUDA_NVML_FIELDS_MAX];
};

static CUresult get(struct thread *t, void *arg, int32_t *result) {
    struct asked *a = arg;
    uint32_t bytes = a->count * (uint32_t)sizeof(a->values[0]), len = 0;
    CUresult r =
        wire_nvml_fields(t, a->index, a->fields, a->count * 8, result, a->values, bytes, &len);

    if (r == CUDA_SUCCESS && len != bytes)
        *result = NVML_ERROR_UNKNOWN;
    return r;
}

static nvmlReturn_t get_some(struct asked *a, nvmlFieldValue_t *values) {
    nvmlReturn_t r;

    for (uint32_t i = 0; i < a->count; i++) {
        a->fields[2 * i] = values[i].fieldId;
        a->fields[2 * i + 1] = values[i].scopeId;
    }
    r = ask_worker(get, a);
    if (r == NVML_SUCCESS)
        memcpy(values, a->values, a->count * sizeof(values[0]));
    return r;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int valuesCount,
                                                   nvmlFieldValue_t *values) {
    struct asked *a;
    nvmlReturn_t r;
    int index;

    r = ask_device(device, &index);
    if (r != NVML_SUCCESS)
        return r;
    if (!values || valuesCount <= 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    a = malloc(sizeof(*a));
    if (!a)
        return NVML_ERROR_MEMORY;
    a->index = index;
    for (int done = 0; done < valuesCount && r == NVML_SUCCESS; done += (int)a->count) {
        int left = valuesCount - done;

        a->count = left < (int)VCUDA_NVML_FIELDS_MAX ? (uint32_t)left : VCUDA_NVML_FIELDS_MAX;
        r = get_some(a, values + done);
    }
    free(a);
    return r;
}
