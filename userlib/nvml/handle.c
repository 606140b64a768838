// SPDX-License-Identifier: Apache-2.0
/* Devices by number, UUID, serial number and place on the bus. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ask.h"
#include "identity.h"
#include "nvml_link.h"
#include "nvml_calls.h"

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *deviceCount) {
    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (!deviceCount)
        return NVML_ERROR_INVALID_ARGUMENT;
    *deviceCount = link_devices();
    return NVML_SUCCESS;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetCount(unsigned int *deviceCount) {
    return nvmlDeviceGetCount_v2(deviceCount);
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) {
    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (!device || index >= link_devices())
        return NVML_ERROR_INVALID_ARGUMENT;
    *device = link_device(index);
    return NVML_SUCCESS;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device) {
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

/* The first device that `is` the one looked for. */
static nvmlReturn_t find(bool (*is)(nvmlDevice_t device, const void *what), const void *what,
                         nvmlDevice_t *device) {
    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (!device || !what)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned int i = 0; i < link_devices(); i++) {
        if (is(link_device(i), what)) {
            *device = link_device(i);
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

static bool has_uuid_text(nvmlDevice_t device, const void *what) {
    char text[NVML_DEVICE_UUID_V2_BUFFER_SIZE];

    identity_uuid(device, text, sizeof(text));
    return !strcasecmp(text, what);
}

static bool has_uuid(nvmlDevice_t device, const void *what) {
    return !memcmp(device->info.uuid, what, sizeof(device->info.uuid));
}

static bool has_serial(nvmlDevice_t device, const void *what) {
    char text[64];

    return nvmlDeviceGetSerial(device, text, sizeof(text)) == NVML_SUCCESS && !strcmp(text, what);
}

static bool has_place(nvmlDevice_t device, const void *what) {
    struct pci_place place;

    return identity_place(device->info.pci_bus_id, &place) && !memcmp(&place, what, sizeof(place));
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    return find(has_uuid_text, uuid, device);
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_v1_t *uuid,
                                                     nvmlDevice_t *device) {
    char text[sizeof(uuid->value.str) + 1];

    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (!uuid || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (uuid->version != NVML_VERSION_WORD(nvmlUUID_v1_t, 1))
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (uuid->type == NVML_UUID_TYPE_BINARY)
        return find(has_uuid, uuid->value.bytes, device);
    if (uuid->type != NVML_UUID_TYPE_ASCII)
        return NVML_ERROR_INVALID_ARGUMENT;
    snprintf(text, sizeof(text), "%.*s", (int)sizeof(uuid->value.str), uuid->value.str);
    return find(has_uuid_text, text, device);
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device) {
    return find(has_serial, serial, device);
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId,
                                                           nvmlDevice_t *device) {
    struct pci_place place;

    if (!link_ready())
        return NVML_ERROR_UNINITIALIZED;
    if (!pciBusId || !identity_place(pciBusId, &place))
        return NVML_ERROR_INVALID_ARGUMENT;
    return find(has_place, &place, device);
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *pciBusId,
                                                        nvmlDevice_t *device) {
    return nvmlDeviceGetHandleByPciBusId_v2(pciBusId, device);
}

/* Partitions of a GPU are given to a guest as devices, if at all: none has parts. */
VCUDA_EXPORT nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device,
                                                      unsigned int *isMigDevice) {
    int index;
    nvmlReturn_t r = ask_device(device, &index);

    if (r != NVML_SUCCESS)
        return r;
    if (!isMigDevice)
        return NVML_ERROR_INVALID_ARGUMENT;
    *isMigDevice = 0;
    return NVML_SUCCESS;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device,
                                                              unsigned int index,
                                                              nvmlDevice_t *migDevice) {
    int unused;
    nvmlReturn_t r = ask_device(device, &unused);

    (void)index;
    if (r != NVML_SUCCESS)
        return r;
    return migDevice ? NVML_ERROR_NOT_FOUND : NVML_ERROR_INVALID_ARGUMENT;
}

VCUDA_EXPORT nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t migDevice,
                                                                       nvmlDevice_t *device) {
    int index;
    nvmlReturn_t r = ask_device(migDevice, &index);

    (void)device;
    return r == NVML_SUCCESS ? NVML_ERROR_INVALID_ARGUMENT : r;
}
