// SPDX-License-Identifier: Apache-2.0
/* Programs on a device. */
#include "ask.h"
#include "info.h"
#include "nvml_link.h"
#include "nvml_calls.h"
#include "wire.h"

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

struct asked {
    int index; /* of the device */
    uint32_t count;
    struct vcuda_nvml_process programs[VCUDA_NVML_PROCESSES_MAX];
};

static CUresult get(struct thread *t, void *arg, int32_t *result) {
    struct asked *a = arg;
    uint32_t len = 0;
    CUresult r =
        wire_nvml_processes(t, a->index, result, &a->count, a->programs, sizeof(a->programs), &len);

    if (r == CUDA_SUCCESS && (len != sizeof(a->programs) || a->count > VCUDA_NVML_PROCESSES_MAX))
        *result = NVML_ERROR_UNKNOWN;
    return r;
}

/* The programs, and by NVML's rules whether they fit into the caller's array. */
static nvmlReturn_t ask_programs(nvmlDevice_t device, struct asked *a, unsigned int *count,
                                 const void *infos) {
    nvmlReturn_t r = ask_device(device, &a->index);
    unsigned int room;

    if (r != NVML_SUCCESS)
        return r;
    if (!count || (*count && !infos))
        return NVML_ERROR_INVALID_ARGUMENT;
    r = ask_worker(get, a);
    if (r != NVML_SUCCESS)
        return r;
    room = *count;
    *count = a->count;
    return a->count > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device,
                                                                  unsigned int *infoCount,
                                                                  nvmlProcessInfo_t *infos) {
    struct asked a = {0};
    nvmlReturn_t r = ask_programs(device, &a, infoCount, infos);

    for (uint32_t i = 0; r == NVML_SUCCESS && i < a.count; i++)
        infos[i] = (nvmlProcessInfo_t){.pid = a.programs[i].pid,
                                       .usedGpuMemory = a.programs[i].used,
                                       .gpuInstanceId = NVML_NO_INSTANCE,
                                       .computeInstanceId = NVML_NO_INSTANCE};
    return r;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device,
                                                                  unsigned int *infoCount,
                                                                  nvmlProcessInfo_t *infos) {
    return nvmlDeviceGetComputeRunningProcesses_v3(device, infoCount, infos);
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device,
                                                               unsigned int *infoCount,
                                                               nvmlProcessInfo_v1_t *infos) {
    struct asked a = {0};
    nvmlReturn_t r = ask_programs(device, &a, infoCount, infos);

    for (uint32_t i = 0; r == NVML_SUCCESS && i < a.count; i++)
        infos[i] =
            (nvmlProcessInfo_v1_t){.pid = a.programs[i].pid, .usedGpuMemory = a.programs[i].used};
    return r;
}
