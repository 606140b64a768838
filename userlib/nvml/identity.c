// SPDX-License-Identifier: Apache-2.0
/* What a device is called, where it sits, what it can. */
#include "identity.h"

#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "nvml_link.h"
#include "nvml_answers.h"
#include "nvml_calls.h"

bool identity_place(const char *text, struct pci_place *place) {
    struct pci_place p = {0};
    int end = 0;

    if (sscanf(text, "%x:%x:%x.%x%n", &p.domain, &p.bus, &p.device, &p.function, &end) == 4 &&
        end && !text[end])
        goto good;
    p = (struct pci_place){0};
    end = 0;
    if (sscanf(text, "%x:%x.%x%n", &p.bus, &p.device, &p.function, &end) == 3 && end && !text[end])
        goto good;
    p = (struct pci_place){0};
    end = 0;
    if (sscanf(text, "%x:%x:%x%n", &p.domain, &p.bus, &p.device, &end) != 3 || !end || text[end])
        return false;
good:
    *place = p;
    return true;
}

void identity_uuid(nvmlDevice_t device, char *text, size_t size) {
    const unsigned char *b = device->info.uuid;

    snprintf(text, size, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
}

/* Checks the device and one pointer. */
static nvmlReturn_t check(nvmlDevice_t device, const void *out) {
    int index;
    nvmlReturn_t r = ask_device(device, &index);

    return r == NVML_SUCCESS && !out ? NVML_ERROR_INVALID_ARGUMENT : r;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length) {
    nvmlReturn_t r = check(device, name);

    if (r != NVML_SUCCESS)
        return r;
    return ask_text(name, length, device->info.name, sizeof(device->info.name));
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length) {
    char text[NVML_DEVICE_UUID_V2_BUFFER_SIZE];
    nvmlReturn_t r = check(device, uuid);

    if (r != NVML_SUCCESS)
        return r;
    identity_uuid(device, text, sizeof(text));
    return ask_text(uuid, length, text, sizeof(text));
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index) {
    nvmlReturn_t r = check(device, index);

    if (r == NVML_SUCCESS)
        *index = (unsigned int)link_index(device);
    return r;
}

/* The numbers of vendor and product, which the CUDA driver does not tell: 0 where nobody does. */
static void ask_product(nvmlDevice_t device, nvmlPciInfo_t *pci) {
    nvmlPciInfoExt_v1_t ext = {.version = NVML_VERSION_WORD(nvmlPciInfoExt_v1_t, 1)};

    if (nvmlDeviceGetPciInfoExt(device, &ext) != NVML_SUCCESS)
        return;
    pci->pciDeviceId = ext.pciDeviceId;
    pci->pciSubSystemId = ext.pciSubSystemId;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) {
    struct pci_place place;
    nvmlReturn_t r = check(device, pci);

    if (r != NVML_SUCCESS)
        return r;
    if (!identity_place(device->info.pci_bus_id, &place))
        return NVML_ERROR_UNKNOWN;
    memset(pci, 0, sizeof(*pci));
    pci->domain = place.domain;
    pci->bus = place.bus;
    pci->device = place.device;
    snprintf(pci->busIdLegacy, sizeof(pci->busIdLegacy), "%04X:%02X:%02X.0", place.domain & 0xffff,
             place.bus & 0xff, place.device & 0xff);
    snprintf(pci->busId, sizeof(pci->busId), "%08X:%02X:%02X.0", place.domain, place.bus,
             place.device);
    ask_product(device, pci);
    return NVML_SUCCESS;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_v2_t *pci) {
    nvmlPciInfo_t all;
    nvmlReturn_t r = check(device, pci);

    if (r == NVML_SUCCESS)
        r = nvmlDeviceGetPciInfo_v3(device, &all);
    /* Up to the reserved words, which not every program has room for. */
    if (r == NVML_SUCCESS)
        memcpy(pci, &all, offsetof(nvmlPciInfo_v2_t, reserved));
    return r;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_v1_t *pci) {
    nvmlPciInfo_t all;
    nvmlReturn_t r = check(device, pci);

    if (r == NVML_SUCCESS)
        r = nvmlDeviceGetPciInfo_v3(device, &all);
    if (r == NVML_SUCCESS)
        memcpy(pci, &all, sizeof(*pci));
    return r;
}

static int attribute(nvmlDevice_t device, CUdevice_attribute a) {
    return device->info.attributes[a];
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major,
                                                             int *minor) {
    nvmlReturn_t r = check(device, major && minor ? major : NULL);

    if (r != NVML_SUCCESS)
        return r;
    *major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return NVML_SUCCESS;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned int *arch) {
    static const struct {
        int capability; /* the first one: major * 10 + minor */
        unsigned int arch;
    } steps[] = {{30, NVML_DEVICE_ARCH_KEPLER},     {50, NVML_DEVICE_ARCH_MAXWELL},
                 {60, NVML_DEVICE_ARCH_PASCAL},     {70, NVML_DEVICE_ARCH_VOLTA},
                 {75, NVML_DEVICE_ARCH_TURING},     {80, NVML_DEVICE_ARCH_AMPERE},
                 {89, NVML_DEVICE_ARCH_ADA},        {90, NVML_DEVICE_ARCH_HOPPER},
                 {100, NVML_DEVICE_ARCH_BLACKWELL}, {130, NVML_DEVICE_ARCH_UNKNOWN}};
    nvmlReturn_t r = check(device, arch);
    int capability;

    if (r != NVML_SUCCESS)
        return r;
    capability = 10 * attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                 attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    *arch = NVML_DEVICE_ARCH_UNKNOWN;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (capability >= steps[i].capability)
            *arch = steps[i].arch;
    }
    return NVML_SUCCESS;
}
