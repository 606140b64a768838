// SPDX-License-Identifier: Apache-2.0
/*
 * NVML beside CUDA: the same devices, found in each way, and what wrong arguments get. Prints
 * nothing that differs from one GPU to another.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common.h"
#include "nvml_types.h"

static void *library;

/* Calls a function of the library by its name: the types are those of the arguments. */
#define NVML(name, ...) ((nvmlReturn_t(*)())found(#name))(__VA_ARGS__)

static void *found(const char *name) {
    void *f = dlsym(library, name);

    if (!f) {
        printf("%s is missing\n", name);
        exit(1);
    }
    return f;
}

static void texts(void) {
    const char *(*text)(nvmlReturn_t) = found("nvmlErrorString");

    for (int i = 0; i <= 31; i++)
        printf("%d %s\n", i, text((nvmlReturn_t)i));
    printf("999 %s\n", text(NVML_ERROR_UNKNOWN));
}

static void uninitialised(void) {
    nvmlDevice_t d = NULL;
    unsigned int n = 7;

    SAY("shutdown before init", NVML(nvmlShutdown));
    SAY("count before init", NVML(nvmlDeviceGetCount_v2, &n));
    SAY("count before init, NULL", NVML(nvmlDeviceGetCount_v2, NULL));
    SAY("handle before init", NVML(nvmlDeviceGetHandleByIndex_v2, 0u, &d));
    SAY("power before init", NVML(nvmlDeviceGetPowerUsage, d, &n));
}

static void write_uuid(const CUuuid *u, char *text) {
    text += sprintf(text, "GPU-");
    for (int i = 0; i < 16; i++)
        text += sprintf(text, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
                        (unsigned char)u->bytes[i]);
}

static void compare(unsigned int i) {
    char name[256], cuda_name[256], uuid[96], cuda_uuid[96], bus[32];
    int major = 0, minor = 0, cuda_major = 0, cuda_minor = 0;
    unsigned int index = 99, mig = 99;
    nvmlDevice_t d = NULL, again = NULL;
    nvmlPciInfo_t pci = {0};
    CUdevice device;
    CUuuid u;

    CK(cuDeviceGet(&device, (int)i));
    CK(cuDeviceGetName(cuda_name, sizeof(cuda_name), device));
    CK(cuDeviceGetUuid_v2(&u, device));
    CK(cuDeviceGetPCIBusId(bus, sizeof(bus), device));
    CK(cuDeviceComputeCapability(&cuda_major, &cuda_minor, device));
    write_uuid(&u, cuda_uuid);
    SAY("by uuid", NVML(nvmlDeviceGetHandleByUUID, cuda_uuid, &d));
    SAY("by bus id", NVML(nvmlDeviceGetHandleByPciBusId_v2, bus, &again));
    printf("the same: %d\n", d == again);
    SAY("by bus id, old", NVML(nvmlDeviceGetHandleByPciBusId, bus, &again));
    printf("the same: %d\n", d == again);
    SAY("index", NVML(nvmlDeviceGetIndex, d, &index));
    SAY("by index", NVML(nvmlDeviceGetHandleByIndex_v2, index, &again));
    printf("the same: %d\n", d == again);
    SAY("name", NVML(nvmlDeviceGetName, d, name, (unsigned int)sizeof(name)));
    printf("as CUDA says: %d\n", !strcmp(name, cuda_name));
    SAY("uuid", NVML(nvmlDeviceGetUUID, d, uuid, (unsigned int)sizeof(uuid)));
    printf("as CUDA says: %d\n", !strcmp(uuid, cuda_uuid));
    SAY("pci", NVML(nvmlDeviceGetPciInfo_v3, d, &pci));
    printf("as CUDA says: %d %d %d\n", !strcasecmp(pci.busId + 4, bus), strlen(pci.busId) == 16,
           !strcmp(pci.busIdLegacy, pci.busId + 4));
    SAY("capability", NVML(nvmlDeviceGetCudaComputeCapability, d, &major, &minor));
    printf("as CUDA says: %d\n", major == cuda_major && minor == cuda_minor);
    SAY("is a MIG device", NVML(nvmlDeviceIsMigDeviceHandle, d, &mig));
    printf("%u\n", mig);
}

static void wrong_arguments(void) {
    nvmlMemory_v2_t memory = {.version = 1};
    nvmlTemperature_v1_t temperature = {.version = 1};
    nvmlDevice_t d = NULL, other = NULL;
    unsigned int n = 0;
    char text[8];

    SAY("count to NULL", NVML(nvmlDeviceGetCount_v2, NULL));
    NVML(nvmlDeviceGetCount_v2, &n);
    SAY("index too large", NVML(nvmlDeviceGetHandleByIndex_v2, n, &d));
    SAY("handle to NULL", NVML(nvmlDeviceGetHandleByIndex_v2, 0u, NULL));
    SAY("no such uuid",
        NVML(nvmlDeviceGetHandleByUUID, "GPU-00000000-0000-0000-0000-000000000000", &other));
    SAY("uuid NULL", NVML(nvmlDeviceGetHandleByUUID, NULL, &other));
    SAY("no such place", NVML(nvmlDeviceGetHandleByPciBusId_v2, "0000:fe:1f.0", &other));
    SAY("no place at all", NVML(nvmlDeviceGetHandleByPciBusId_v2, "somewhere", &other));
    NVML(nvmlDeviceGetHandleByIndex_v2, 0u, &d);
    SAY("name too short", NVML(nvmlDeviceGetName, d, text, 1u));
    SAY("name to NULL", NVML(nvmlDeviceGetName, d, NULL, 8u));
    SAY("uuid too short", NVML(nvmlDeviceGetUUID, d, text, (unsigned int)sizeof(text)));
    SAY("name of NULL", NVML(nvmlDeviceGetName, NULL, text, 8u));
    SAY("power of NULL", NVML(nvmlDeviceGetPowerUsage, NULL, &n));
    SAY("power to NULL", NVML(nvmlDeviceGetPowerUsage, d, NULL));
    SAY("memory, bad version", NVML(nvmlDeviceGetMemoryInfo_v2, d, &memory));
    SAY("memory to NULL", NVML(nvmlDeviceGetMemoryInfo_v2, d, NULL));
    SAY("temperature, bad version", NVML(nvmlDeviceGetTemperatureV, d, &temperature));
    SAY("peer status, bad index", NVML(nvmlDeviceGetP2PStatus, d, d, 99u, &n));
}

static void events(void) {
    nvmlEventData_t data;
    nvmlEventSet_t set = NULL;

    SAY("event set", NVML(nvmlEventSetCreate, &set));
    SAY("wait for nothing", NVML(nvmlEventSetWait_v2, set, &data, 20u));
    SAY("register nothing", NVML(nvmlDeviceRegisterEvents, NULL, 0ull, set));
    SAY("free", NVML(nvmlEventSetFree, set));
    SAY("create to NULL", NVML(nvmlEventSetCreate, NULL));
}

/* Unlike CUDA, NVML works on in a child. */
static void forked(void) {
    int status = 1;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (!child) {
        nvmlDevice_t d = NULL;
        unsigned int n = 0;
        char name[96];

        SAY("child: init again", NVML(nvmlInit_v2));
        SAY("child: count", NVML(nvmlDeviceGetCount_v2, &n));
        SAY("child: handle", NVML(nvmlDeviceGetHandleByIndex_v2, 0u, &d));
        SAY("child: name", NVML(nvmlDeviceGetName, d, name, (unsigned int)sizeof(name)));
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("child: exit %d\n", status);
}

int main(void) {
    unsigned int n = 99, units = 99;
    int version = 0, cuda_version = 0, count = 0;

    library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!library) {
        printf("%s\n", dlerror());
        return 1;
    }
    texts();
    uninitialised();
    SAY("init", NVML(nvmlInit_v2));
    SAY("init, once more", NVML(nvmlInitWithFlags, 0u));
    CK(cuInit(0));
    CK(cuDeviceGetCount(&count));
    CK(cuDriverGetVersion(&cuda_version));
    SAY("count", NVML(nvmlDeviceGetCount_v2, &n));
    printf("as CUDA says: %d\n", (int)n == count);
    SAY("version", NVML(nvmlSystemGetCudaDriverVersion_v2, &version));
    printf("as CUDA says: %d\n", version == cuda_version);
    SAY("units", NVML(nvmlUnitGetCount, &units));
    printf("%u\n", units);
    for (int i = 0; i < count && i < 1; i++)
        compare((unsigned int)i);
    wrong_arguments();
    events();
    forked();
    SAY("shutdown", NVML(nvmlShutdown));
    SAY("still there", NVML(nvmlDeviceGetCount_v2, &n));
    SAY("shutdown", NVML(nvmlShutdown));
    SAY("not any more", NVML(nvmlDeviceGetCount_v2, &n));
    SAY("shutdown", NVML(nvmlShutdown));
    SAY("init anew", NVML(nvmlInit));
    SAY("count", NVML(nvmlDeviceGetCount, &n));
    printf("as CUDA says: %d\n", (int)n == count);
    SAY("shutdown", NVML(nvmlShutdown));
    return 0;
}
