// SPDX-License-Identifier: Apache-2.0
/* vcuda info: the devices, how they are reached, what they have left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda.h"
#include "ioctl.h"
#include "local.h"
#include "vcuda.h"

#define MIB (1024 * 1024)

/* As the library chooses. */
static void show_transport(void) {
    const char *which = getenv("VCUDA_TRANSPORT"), *socket = getenv("VCUDA_SOCKET");
    bool automatic = !which || !strcmp(which, "auto");

    if ((automatic && !access(VCUDA_DEVICE, F_OK)) || (which && !strcmp(which, "xen")))
        puts("transport        xen, " VCUDA_DEVICE);
    else
        printf("transport        local, %s\n", socket ? socket : VCUDA_LOCAL_SOCKET);
}

/* The numbers that the host's NVML tells; those that it does not are left out. */
static void show_sensors(const struct nvml *n, int index) {
    nvmlMemory_v2_t memory = {.version = NVML_VERSION_WORD(nvmlMemory_v2_t, 2)};
    nvmlUtilization_t utilization;
    unsigned int value;
    nvmlDevice_t d;
    char uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE];

    if (n->nvmlDeviceGetHandleByIndex_v2((unsigned int)index, &d) != NVML_SUCCESS)
        return;
    if (n->nvmlDeviceGetUUID(d, uuid, sizeof(uuid)) == NVML_SUCCESS)
        printf("  uuid           %s\n", uuid);
    if (n->nvmlDeviceGetMemoryInfo_v2(d, &memory) == NVML_SUCCESS)
        printf("  memory used    %llu of %llu MiB\n", memory.used / MIB, memory.total / MIB);
    if (n->nvmlDeviceGetUtilizationRates(d, &utilization) == NVML_SUCCESS)
        printf("  busy           %u %%\n", utilization.gpu);
    if (n->nvmlDeviceGetTemperature(d, 0, &value) == NVML_SUCCESS)
        printf("  temperature    %u C\n", value);
    if (n->nvmlDeviceGetPowerUsage(d, &value) == NVML_SUCCESS)
        printf("  power          %u W\n", value / 1000);
}

static void show_device(const struct cuda *c, const struct nvml *n, CUdevice device) {
    char name[256] = "", bus[32] = "";
    int major = 0, minor = 0;
    size_t bytes = 0;

    c->cuDeviceGetName(name, sizeof(name), device);
    c->cuDeviceGetPCIBusId(bus, sizeof(bus), device);
    c->cuDeviceComputeCapability(&major, &minor, device);
    c->cuDeviceTotalMem_v2(&bytes, device);
    printf("device %-10d%s\n", device, name);
    printf("  bus            %s\n", bus);
    printf("  capability     %d.%d\n", major, minor);
    printf("  memory         %zu MiB\n", bytes / MIB);
    if (n)
        show_sensors(n, device);
}

int command_info(const struct options *o) {
    char driver[NVML_SYSTEM_VERSION_BUFFER_SIZE];
    struct cuda cuda;
    struct nvml nvml;
    int version = 0, count = 0;
    const char *why;
    bool sensors;
    CUresult r;

    options_export(o);
    why = cuda_open(&cuda);
    if (why) {
        fprintf(stderr, "vcuda: libcuda.so.1: %s\n", why);
        return 1;
    }
    r = cuda.cuInit(0);
    if (r != CUDA_SUCCESS) {
        fprintf(stderr, "vcuda: no device: %s; `vcuda doctor' says why\n", cuda_name(&cuda, r));
        return 1;
    }
    cuda.cuDriverGetVersion(&version);
    cuda.cuDeviceGetCount(&count);
    sensors = !nvml_open(&nvml) && nvml.nvmlInit_v2() == NVML_SUCCESS;
    puts("vcuda            " VCUDA_RELEASE);
    printf("libraries        %s\n", libraries_folder());
    show_transport();
    printf("CUDA             %d.%d\n", version / 1000, version % 1000 / 10);
    if (sensors && nvml.nvmlSystemGetDriverVersion(driver, sizeof(driver)) == NVML_SUCCESS)
        printf("driver           %s\n", driver);
    for (int i = 0; i < count; i++)
        show_device(&cuda, sensors ? &nvml : NULL, i);
    if (sensors)
        nvml.nvmlShutdown();
    return 0;
}
