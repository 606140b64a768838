// SPDX-License-Identifier: Apache-2.0
/* What is known of devices since the hello: answered here. */
#include <stdio.h>
#include <string.h>

#include "cuda_calls.h"
#include "cuda_errors.h"
#include "guest.h"
#include "session.h"

/* Checks what every device query checks; *d is the device. */
static CUresult device_of(CUdevice dev, const void *out, const struct vcuda_device_info **d) {
    CUresult r = guest_ready();

    if (r != CUDA_SUCCESS)
        return r;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (dev < 0 || dev >= session.device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    *d = &session.devices[dev];
    return CUDA_SUCCESS;
}

static int attribute_of(const struct vcuda_device_info *d, CUdevice_attribute a) {
    int value = d->attributes[a];

    return value == VCUDA_ATTRIBUTE_NONE ? 0 : value;
}

/* Copies a string into a caller's buffer of `len` bytes, cut if need be. */
static CUresult give_string(char *out, int len, const char *text) {
    if (len <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(out, (size_t)len, "%s", text);
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuDriverGetVersion(int *driverVersion) {
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    /* Asked before cuInit too, and then of this library. */
    *driverVersion = session.driver_version ? session.driver_version : CUDA_VERSION;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuGetErrorName(CUresult error, const char **pStr) {
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = cuda_error_name(error);
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

VCUDA_EXPORT CUresult cuGetErrorString(CUresult error, const char **pStr) {
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = cuda_error_string(error);
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

VCUDA_EXPORT CUresult cuDeviceGetCount(int *count) {
    CUresult r = guest_ready();

    if (r != CUDA_SUCCESS)
        return r;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = session.device_count;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    const struct vcuda_device_info *d;
    CUresult r = device_of(ordinal, device, &d);

    if (r == CUDA_SUCCESS)
        *device = ordinal;
    return r;
}

VCUDA_EXPORT CUresult cuDeviceGetName(char *name, int len, CUdevice dev) {
    const struct vcuda_device_info *d;
    CUresult r = device_of(dev, name, &d);

    return r == CUDA_SUCCESS ? give_string(name, len, d->name) : r;
}

VCUDA_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev) {
    const struct vcuda_device_info *d;
    CUresult r = device_of(dev, uuid, &d);

    if (r == CUDA_SUCCESS)
        memcpy(uuid->bytes, d->uuid, sizeof(uuid->bytes));
    return r;
}

VCUDA_EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) {
    return cuDeviceGetUuid_v2(uuid, dev);
}

VCUDA_EXPORT CUresult cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev) {
    const struct vcuda_device_info *d;
    CUresult r = device_of(dev, luid, &d);

    (void)deviceNodeMask;
    /* A LUID exists on Windows only, as the native driver says on Linux. */
    return r == CUDA_SUCCESS ? CUDA_ERROR_NOT_SUPPORTED : r;
}

VCUDA_EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev) {
    const struct vcuda_device_info *d;
    CUresult r = device_of(dev, bytes, &d);

    if (r == CUDA_SUCCESS)
        *bytes = d->total_memory;
    return r;
}

VCUDA_EXPORT CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev) {
    const struct vcuda_device_info *d;
    CUresult r = device_of(dev, pi, &d);

    if (r != CUDA_SUCCESS)
        return r;
    if (attrib <= 0 || attrib >= VCUDA_ATTRIBUTES || d->attributes[attrib] == VCUDA_ATTRIBUTE_NONE)
        return CUDA_ERROR_INVALID_VALUE;
    *pi = d->attributes[attrib];
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev) {
    const struct vcuda_device_info *d;
    CUresult r = device_of(dev, pciBusId, &d);

    if (r == CUDA_SUCCESS && len <= (int)strlen(d->pci_bus_id)) /* unlike a name it is not cut */
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? give_string(pciBusId, len, d->pci_bus_id) : r;
}

/* "[domain:]bus:device[.function]", hexadecimal: false if it is none. */
static bool parse_bus_id(const char *text, unsigned int id[4]) {
    int end = 0;

    id[0] = id[3] = 0;
    if (sscanf(text, "%x:%x:%x.%x%n", &id[0], &id[1], &id[2], &id[3], &end) == 4 && !text[end])
        return true;
    id[0] = id[3] = 0;
    if (sscanf(text, "%x:%x.%x%n", &id[1], &id[2], &id[3], &end) == 3 && !text[end])
        return true;
    id[3] = 0;
    return sscanf(text, "%x:%x:%x%n", &id[0], &id[1], &id[2], &end) == 3 && !text[end];
}

VCUDA_EXPORT CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId) {
    unsigned int wanted[4], id[4];
    CUresult r = guest_ready();

    if (r != CUDA_SUCCESS)
        return r;
    if (!dev || !pciBusId || !parse_bus_id(pciBusId, wanted))
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < session.device_count; i++) {
        if (parse_bus_id(session.devices[i].pci_bus_id, id) && !memcmp(id, wanted, sizeof(id))) {
            *dev = i;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

VCUDA_EXPORT CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev) {
    const struct vcuda_device_info *d;
    CUresult r = device_of(dev, major && minor ? major : NULL, &d);

    if (r != CUDA_SUCCESS)
        return r;
    *major = attribute_of(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = attribute_of(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev) {
    const struct vcuda_device_info *d;
    CUresult r = device_of(dev, prop, &d);

    if (r != CUDA_SUCCESS)
        return r;
    *prop = (CUdevprop){
        .maxThreadsPerBlock = attribute_of(d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .maxThreadsDim = {attribute_of(d, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                          attribute_of(d, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                          attribute_of(d, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
        .maxGridSize = {attribute_of(d, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
                        attribute_of(d, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                        attribute_of(d, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
        .sharedMemPerBlock = attribute_of(d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        .totalConstantMemory = attribute_of(d, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
        .SIMDWidth = attribute_of(d, CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        .memPitch = attribute_of(d, CU_DEVICE_ATTRIBUTE_MAX_PITCH),
        .regsPerBlock = attribute_of(d, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
        .clockRate = attribute_of(d, CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        .textureAlign = attribute_of(d, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
    };
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev) {
    const struct vcuda_device_info *d, *peer;
    CUresult r = device_of(dev, canAccessPeer, &d);

    if (r == CUDA_SUCCESS)
        r = device_of(peerDev, canAccessPeer, &peer);
    if (r == CUDA_SUCCESS)
        *canAccessPeer = d->peers >> peerDev & 1;
    return r;
}
