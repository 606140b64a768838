// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_abi.h"

struct nvmlDevice_st {
    int device; /* of the simulated GPU */
};

static struct nvmlDevice_st devices[16];
static int device_count;

static uint64_t next(struct pattern *p) {
    p->state = p->state * 6364136223846793005u + 1442695040888963407u;
    return p->state >> 33;
}

void pattern_mix(struct pattern *p, uint64_t value) {
    p->state ^= value;
    next(p);
}

void pattern_mix_bytes(struct pattern *p, const void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        pattern_mix(p, ((const uint8_t *)data)[i]);
}

struct pattern pattern_of(const char *function) {
    struct pattern p = {1};

    pattern_mix_bytes(&p, function, strlen(function));
    return p;
}

void pattern_fill(struct pattern *p, void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)data)[i] = (uint8_t)next(p);
}

void pattern_versioned(struct pattern *p, void *structure) {
    uint32_t word;

    memcpy(&word, structure, sizeof(word));
    pattern_mix_bytes(p, structure, word & 0xffffff);
    pattern_fill(p, (uint8_t *)structure + 4, (word & 0xffffff) - 4);
}

void pattern_text(struct pattern *p, char *text, size_t room) {
    snprintf(text, room, "text %lu", (unsigned long)next(p));
}

nvmlReturn_t pattern_list(struct pattern *p, unsigned int *count, void *list, size_t size) {
    unsigned int there = 2 + (unsigned int)(next(p) % 30), room = *count;

    *count = there;
    if (list && room < there)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    if (list)
        pattern_fill(p, list, there * size);
    return NVML_SUCCESS;
}

bool host_device(nvmlDevice_t device) {
    return device >= devices && device < devices + device_count;
}

nvmlReturn_t nvmlInit_v2(void) {
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&device_count) != CUDA_SUCCESS)
        return NVML_ERROR_DRIVER_NOT_LOADED;
    for (int i = 0; i < device_count; i++)
        devices[i].device = i;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown(void) {
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length) {
    snprintf(version, length, "pattern");
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length) {
    snprintf(version, length, "13.pattern");
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) {
    *device = &devices[index];
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    char text[41];
    CUuuid u;

    for (int i = 0; i < device_count; i++) {
        int at = snprintf(text, sizeof(text), "GPU-");

        if (cuDeviceGetUuid_v2(&u, i) != CUDA_SUCCESS)
            return NVML_ERROR_UNKNOWN;
        for (int b = 0; b < 16; b++)
            at += snprintf(text + at, sizeof(text) - (size_t)at,
                           b == 4 || b == 6 || b == 8 || b == 10 ? "-%02x" : "%02x",
                           (unsigned char)u.bytes[b]);
        if (!strcmp(text, uuid)) {
            *device = &devices[i];
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    if (!host_device(device))
        return NVML_ERROR_INVALID_ARGUMENT;
    memory->total = 1000000000;
    memory->reserved = 1000;
    memory->used = 20000;
    memory->free = 999979000;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    if (!host_device(device))
        return NVML_ERROR_INVALID_ARGUMENT;
    *memory = (nvmlMemory_t){.total = 1000000000, .free = 999979000, .used = 21000};
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values) {
    if (!host_device(device) || count <= 0 || !values)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < count; i++) {
        values[i].timestamp = 7;
        values[i].latencyUsec = 8;
        values[i].valueType = 3;
        values[i].nvmlReturn = values[i].fieldId % 3 ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
        values[i].value.ullVal = 1000ull * values[i].fieldId + values[i].scopeId;
    }
    return NVML_SUCCESS;
}

static bool is_worker(const char *process) {
    char path[300], name[32] = "";
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%s/comm", process);
    f = fopen(path, "r");
    if (!f)
        return false;
    if (!fgets(name, sizeof(name), f))
        name[0] = 0;
    fclose(f);
    return !strcmp(name, "vcuda-worker\n");
}

/* As a real one would say: every worker of this machine is on the GPU; each with its number. */
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
                                                     nvmlProcessInfo_t *infos) {
    unsigned int room = *count;
    struct dirent *entry;
    DIR *dir = opendir("/proc");

    if (!host_device(device) || !dir)
        return NVML_ERROR_INVALID_ARGUMENT;
    *count = 0;
    while ((entry = readdir(dir))) {
        unsigned int pid = (unsigned int)strtoul(entry->d_name, NULL, 10);

        if (!pid || !is_worker(entry->d_name))
            continue;
        if (*count < room)
            infos[*count] = (nvmlProcessInfo_t){.pid = pid, .usedGpuMemory = 1000ull + pid};
        ++*count;
    }
    closedir(dir);
    return *count > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}
