// SPDX-License-Identifier: Apache-2.0
/* Memory, as much of it as this domain may use. */
#include "ask.h"
#include "nvml_link.h"
#include "nvml_calls.h"
#include "wire.h"

struct asked {
    int index; /* of the device */
    nvmlMemory_v2_t memory;
};

static CUresult get(struct thread *t, void *arg, int32_t *result) {
    struct asked *a = arg;
    uint64_t total = 0, reserved = 0, left = 0, used = 0;
    CUresult r = wire_nvml_memory(t, a->index, result, &total, &reserved, &left, &used);

    a->memory = (nvmlMemory_v2_t){
        .version = NVML_VERSION_WORD(nvmlMemory_v2_t, 2),
        .total = total,
        .reserved = reserved,
        .free = left,
        .used = used,
    };
    return r;
}

static nvmlReturn_t memory_of(nvmlDevice_t device, nvmlMemory_v2_t *m) {
    struct asked a;
    nvmlReturn_t r = ask_device(device, &a.index);

    if (r == NVML_SUCCESS)
        r = ask_worker(get, &a);
    if (r == NVML_SUCCESS)
        *m = a.memory;
    return r;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (!memory)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (memory->version != NVML_VERSION_WORD(nvmlMemory_v2_t, 2))
        return NVML_ERROR_FUNCTION_NOT_FOUND; /* seen: elsewhere it is a mismatch */
    return memory_of(device, memory);
}

/* This form knows no reserved memory: it is used. */
VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    nvmlMemory_v2_t m;
    nvmlReturn_t r;

    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (!memory)
        return NVML_ERROR_INVALID_ARGUMENT;
    r = memory_of(device, &m);
    if (r == NVML_SUCCESS)
        *memory = (nvmlMemory_t){.total = m.total, .free = m.free, .used = m.reserved + m.used};
    return r;
}
