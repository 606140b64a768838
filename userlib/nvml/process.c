// SPDX-License-Identifier: Apache-2.0
/* Programs on a device. */
#include "ask.h"
#include "nvml_link.h"
#include "nvml_calls.h"

static nvmlReturn_t none(nvmlDevice_t device, unsigned int *count) {
    int index;
    nvmlReturn_t r = ask_device(device, &index);

    if (r != NVML_SUCCESS)
        return r;
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    *count = 0;
    return NVML_SUCCESS;
}

/* No program draws, and no program of a guest uses the host's MPS. */
#define NO_PROCESSES(name, type)                                                                   \
    VCUDA_EXPORT nvmlReturn_t name(nvmlDevice_t device, unsigned int *infoCount, type *infos) {    \
        (void)infos;                                                                               \
        return none(device, infoCount);                                                            \
    }

NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_t)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlProcessInfo_t)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t)

/* Not told yet; an empty list would be a wrong answer. */
#define UNKNOWN_PROCESSES(name, type)                                                              \
    VCUDA_EXPORT nvmlReturn_t name(nvmlDevice_t device, unsigned int *infoCount, type *infos) {    \
        nvmlReturn_t r = none(device, infoCount);                                                  \
                                                                                                   \
        (void)infos;                                                                               \
        return r == NVML_SUCCESS ? NVML_ERROR_NOT_SUPPORTED : r;                                   \
    }

UNKNOWN_PROCESSES(nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t)
UNKNOWN_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_t)
UNKNOWN_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t)
