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
#include <sys/wait.h>
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

static void say(const char *what, nvmlReturn_t r) {
    printf("%s: %d\n", what, r);
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

    say("shutdown before init", NVML(nvmlShutdown));
    say("count before init", NVML(nvmlDeviceGetCount_v2, &n));
    say("count before init, NULL", NVML(nvmlDeviceGetCount_v2, NULL));
    say("handle before init", NVML(nvmlDeviceGetHandleByIndex_v2, 0u, &d));
    say("power before init", NVML(nvmlDeviceGetPowerUsage, d, &n));
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
    say("by uuid", NVML(nvmlDeviceGetHandleByUUID, cuda_uuid, &d));
    say("by bus id", NVML(nvmlDeviceGetHandleByPciBusId_v2, bus, &again));
    printf("the same: %d\n", d == again);
    say("by bus id, old", NVML(nvmlDeviceGetHandleByPciBusId, bus, &again));
    printf("the same: %d\n", d == again);
    say("index", NVML(nvmlDeviceGetIndex, d, &index));
    say("by index", NVML(nvmlDeviceGetHandleByIndex_v2, index, &again));
    printf("the same: %d\n", d == again);
    say("name", NVML(nvmlDeviceGetName, d, name, (unsigned int)sizeof(name)));
    printf("as CUDA says: %d\n", !strcmp(name, cuda_name));
    say("uuid", NVML(nvmlDeviceGetUUID, d, uuid, (unsigned int)sizeof(uuid)));
    printf("as CUDA says: %d\n", !strcmp(uuid, cuda_uuid));
    say("pci", NVML(nvmlDeviceGetPciInfo_v3, d, &pci));
    printf("as CUDA says: %d %d %d\n", !strcasecmp(pci.busId + 4, bus), strlen(pci.busId) == 16,
           !strcmp(pci.busIdLegacy, pci.busId + 4));
    say("capability", NVML(nvmlDeviceGetCudaComputeCapability, d, &major, &minor));
    printf("as CUDA says: %d\n", major == cuda_major && minor == cuda_minor);
    say("is a MIG device", NVML(nvmlDeviceIsMigDeviceHandle, d, &mig));
    printf("%u\n", mig);
}

static void wrong_arguments(void) {
    nvmlMemory_v2_t memory = {.version = 1};
    nvmlTemperature_v1_t temperature = {.version = 1};
    nvmlDevice_t d = NULL, other = NULL;
    unsigned int n = 0;
    char text[8];

    say("count to NULL", NVML(nvmlDeviceGetCount_v2, NULL));
    NVML(nvmlDeviceGetCount_v2, &n);
    say("index too large", NVML(nvmlDeviceGetHandleByIndex_v2, n, &d));
    say("handle to NULL", NVML(nvmlDeviceGetHandleByIndex_v2, 0u, NULL));
    say("no such uuid",
        NVML(nvmlDeviceGetHandleByUUID, "GPU-00000000-0000-0000-0000-000000000000", &other));
    say("uuid NULL", NVML(nvmlDeviceGetHandleByUUID, NULL, &other));
    say("no such place", NVML(nvmlDeviceGetHandleByPciBusId_v2, "0000:fe:1f.0", &other));
    say("no place at all", NVML(nvmlDeviceGetHandleByPciBusId_v2, "somewhere", &other));
    NVML(nvmlDeviceGetHandleByIndex_v2, 0u, &d);
    say("name too short", NVML(nvmlDeviceGetName, d, text, 1u));
    say("name to NULL", NVML(nvmlDeviceGetName, d, NULL, 8u));
    say("uuid too short", NVML(nvmlDeviceGetUUID, d, text, (unsigned int)sizeof(text)));
    say("name of NULL", NVML(nvmlDeviceGetName, NULL, text, 8u));
    say("power of NULL", NVML(nvmlDeviceGetPowerUsage, NULL, &n));
    say("power to NULL", NVML(nvmlDeviceGetPowerUsage, d, NULL));
    say("memory, bad version", NVML(nvmlDeviceGetMemoryInfo_v2, d, &memory));
    say("memory to NULL", NVML(nvmlDeviceGetMemoryInfo_v2, d, NULL));
    say("temperature, bad version", NVML(nvmlDeviceGetTemperatureV, d, &temperature));
    say("peer status, bad index", NVML(nvmlDeviceGetP2PStatus, d, d, 99u, &n));
}

static void events(void) {
    nvmlEventData_t data;
    nvmlEventSet_t set = NULL;

    say("event set", NVML(nvmlEventSetCreate, &set));
    say("wait for nothing", NVML(nvmlEventSetWait_v2, set, &data, 20u));
    say("register nothing", NVML(nvmlDeviceRegisterEvents, NULL, 0ull, set));
    say("free", NVML(nvmlEventSetFree, set));
    say("create to NULL", NVML(nvmlEventSetCreate, NULL));
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

        say("child: init again", NVML(nvmlInit_v2));
        say("child: count", NVML(nvmlDeviceGetCount_v2, &n));
        say("child: handle", NVML(nvmlDeviceGetHandleByIndex_v2, 0u, &d));
        say("child: name", NVML(nvmlDeviceGetName, d, name, (unsigned int)sizeof(name)));
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
    say("init", NVML(nvmlInit_v2));
    say("init, once more", NVML(nvmlInitWithFlags, 0u));
    CK(cuInit(0));
    CK(cuDeviceGetCount(&count));
    CK(cuDriverGetVersion(&cuda_version));
    say("count", NVML(nvmlDeviceGetCount_v2, &n));
    printf("as CUDA says: %d\n", (int)n == count);
    say("version", NVML(nvmlSystemGetCudaDriverVersion_v2, &version));
    printf("as CUDA says: %d\n", version == cuda_version);
    say("units", NVML(nvmlUnitGetCount, &units));
    printf("%u\n", units);
    for (int i = 0; i < count && i < 1; i++)
        compare((unsigned int)i);
    wrong_arguments();
    events();
    forked();
    say("shutdown", NVML(nvmlShutdown));
    say("still there", NVML(nvmlDeviceGetCount_v2, &n));
    say("shutdown", NVML(nvmlShutdown));
    say("not any more", NVML(nvmlDeviceGetCount_v2, &n));
    say("shutdown", NVML(nvmlShutdown));
    say("init anew", NVML(nvmlInit));
    say("count", NVML(nvmlDeviceGetCount, &n));
    printf("as CUDA says: %d\n", (int)n == count);
    say("shutdown", NVML(nvmlShutdown));
    return 0;
}
