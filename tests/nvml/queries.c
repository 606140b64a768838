// SPDX-License-Identifier: Apache-2.0
/* Asks NVML everything about the first device, and prints what does not vary. */
#include "queries.h"

#include <string.h>

void show_result(const char *name, unsigned int number, nvmlReturn_t r) {
    printf("%s %u: %d", name, number, (int)r);
}

void show_bytes(const char *name, const void *data, size_t bytes) {
    unsigned long long value = 0;

    if (bytes <= sizeof(value)) {
        memcpy(&value, data, bytes);
        printf(" %s=%llu", name, value);
        return;
    }
    for (size_t i = 0; i < bytes; i++)
        value = value * 31 + ((const unsigned char *)data)[i];
    printf(" %s#%llx", name, value);
}

static void fields(nvmlDevice_t device) {
    /* ECC mode, NVLink count and speed, link states; one that there is not. */
    static const unsigned int ids[] = {1, 91, 90, 94, 138, 164, 9999};
    nvmlFieldValue_t v[300] = {0};

    for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
        v[i].fieldId = ids[i % (sizeof(ids) / sizeof(ids[0]))];
    printf("fields: %d", nvmlDeviceGetFieldValues(device, 300, v));
    for (size_t i = 0; i < 7; i++)
        printf(" %u=%u/%llu", v[i].fieldId, v[i].nvmlReturn,
               v[i].nvmlReturn ? 0 : v[i].value.ullVal);
    printf(" the last is as the first: %d\n",
           v[294].nvmlReturn == v[0].nvmlReturn && v[294].value.ullVal == v[0].value.ullVal);
    printf("no fields: %d, to NULL: %d\n", nvmlDeviceGetFieldValues(device, 0, v),
           nvmlDeviceGetFieldValues(device, 1, NULL));
}

static void memory(nvmlDevice_t device) {
    nvmlMemory_v2_t m = {.version = NVML_VERSION_WORD(nvmlMemory_v2_t, 2)};
    nvmlMemory_t old = {0};

    printf("memory: %d", nvmlDeviceGetMemoryInfo_v2(device, &m));
    printf(" old: %d", nvmlDeviceGetMemoryInfo(device, &old));
    printf(" total %llu reserved %llu, adds up %d, agree %d\n", m.total, m.reserved,
           m.total == m.reserved + m.used + m.free, m.total == old.total);
}

int main(void) {
    nvmlDevice_t device;
    char version[96] = "";
    nvmlReturn_t r = nvmlInit_v2();

    if (r == NVML_SUCCESS)
        r = nvmlDeviceGetHandleByIndex_v2(0, &device);
    if (r != NVML_SUCCESS) {
        printf("no device: %d\n", r);
        return 1;
    }
    printf("driver: %d", nvmlSystemGetDriverVersion(version, sizeof(version)));
    printf(" %s\n", version);
    ask_everything(device);
    fields(device);
    memory(device);
    return nvmlShutdown() == NVML_SUCCESS ? 0 : 1;
}
