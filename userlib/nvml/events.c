// SPDX-License-Identifier: Apache-2.0
/*
 * Sets of events. What happens to a GPU is not told to guests, for others share it: no type is
 * supported, so that a set stays empty and waiting ends with its time.
 */
#include <stdlib.h>
#include <time.h>

#include "ask.h"
#include "nvml_link.h"
#include "nvml_calls.h"

struct nvmlEventSet_st {
    nvmlEventSet_t self; /* what a good handle points to */
};

VCUDA_EXPORT nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set) {
    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (!set)
        return NVML_ERROR_INVALID_ARGUMENT;
    *set = malloc(sizeof(**set));
    if (!*set)
        return NVML_ERROR_MEMORY;
    (*set)->self = *set;
    return NVML_SUCCESS;
}

static bool is_set(nvmlEventSet_t set) {
    return set && set->self == set;
}

VCUDA_EXPORT nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (!is_set(set))
        return NVML_ERROR_INVALID_ARGUMENT;
    set->self = NULL;
    free(set);
    return NVML_SUCCESS;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device,
                                                           unsigned long long *eventTypes) {
    int index;
    nvmlReturn_t r = ask_device(device, &index);

    if (r != NVML_SUCCESS)
        return r;
    if (!eventTypes)
        return NVML_ERROR_INVALID_ARGUMENT;
    *eventTypes = 0;
    return NVML_SUCCESS;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device,
                                                   unsigned long long eventTypes,
                                                   nvmlEventSet_t set) {
    int index;
    nvmlReturn_t r = ask_device(device, &index);

    if (r != NVML_SUCCESS)
        return r;
    if (!is_set(set))
        return NVML_ERROR_INVALID_ARGUMENT;
    return eventTypes ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

static nvmlReturn_t wait_in_vain(nvmlEventSet_t set, const void *data, unsigned int timeoutms) {
    struct timespec time = {timeoutms / 1000, (long)(timeoutms % 1000) * 1000000};

    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (!is_set(set) || !data)
        return NVML_ERROR_INVALID_ARGUMENT;
    nanosleep(&time, NULL);
    return NVML_ERROR_TIMEOUT;
}

VCUDA_EXPORT nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data,
                                              unsigned int timeoutms) {
    return wait_in_vain(set, data, timeoutms);
}

VCUDA_EXPORT nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_v1_t *data,
                                           unsigned int timeoutms) {
    return wait_in_vain(set, data, timeoutms);
}
