// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "sim.h"

#define NAME "vcuda simulated GPU"

/* What differs from 0, that is, from 'no' and from 'not there'. */
static const struct {
    CUdevice_attribute attribute;
    int value;
} attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, SIM_MAX_THREADS},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, SIM_SHARED_DEFAULT},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, SIM_REGS_PER_SM},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, SIM_SM_COUNT},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT},
    {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, SIM_THREADS_PER_SM},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, SIM_ARCH / 10},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, SIM_ARCH % 10},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, SIM_SHARED_PER_SM},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, SIM_REGS_PER_SM},
    {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, SIM_SHARED_OPTIN},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, SIM_BLOCKS_PER_SM},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, SIM_SHARED_RESERVED},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, SIM_SYNC_DOMAINS},
    {CU_DEVICE_ATTRIBUTE_NUMA_ID, -1},
    {CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, -1},
};

/* Which attributes exist at all. */
static bool known(CUdevice_attribute attribute) {
    return attribute >= 1 && attribute < CU_DEVICE_ATTRIBUTE_MAX;
}

static int bus_id(CUdevice dev) {
    return dev + 1;
}

static int attribute_value(CUdevice_attribute attribute, CUdevice dev) {
    if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
        return bus_id(dev);
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        if (attributes[i].attribute == attribute)
            return attributes[i].value;
    return 0;
}

/* The checks at the start of most calls here. */
#define DEVICE(output, dev)                                                                        \
    do {                                                                                           \
        SIM_READY();                                                                               \
        if (!(output))                                                                             \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        if (!sim_device(dev))                                                                      \
            return CUDA_ERROR_INVALID_DEVICE;                                                      \
    } while (0)

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    DEVICE(device, ordinal);
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    SIM_READY();
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = sim_device_count();
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev) {
    DEVICE(name, dev);
    if (len <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)len, "%s", NAME);
    return CUDA_SUCCESS;
}

/* Made up, but the same in every run, and with the version and variant bits of a random UUID. */
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev) {
    DEVICE(uuid, dev);
    memcpy(uuid->bytes, "vcuda-\x40S\x80imgpu\0", sizeof(uuid->bytes) - 1);
    uuid->bytes[15] = (char)dev;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) {
    return cuDeviceGetUuid_v2(uuid, dev);
}

/* An identifier of Windows: no device has one elsewhere. */
CUresult cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev) {
    DEVICE(luid && deviceNodeMask, dev);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev) {
    DEVICE(bytes, dev);
    *bytes = sim_device(dev)->heap.limit;
    return CUDA_SUCCESS;
}

/* As of old: as much of it as 32 bits can say. */
CUresult cuDeviceTotalMem(unsigned int *bytes, CUdevice dev) {
    DEVICE(bytes, dev);
    *bytes =
        sim_device(dev)->heap.limit < UINT_MAX ? (unsigned)sim_device(dev)->heap.limit : UINT_MAX;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev) {
    DEVICE(pi, dev);
    if (!known(attrib))
        return CUDA_ERROR_INVALID_VALUE;
    *pi = attribute_value(attrib, dev);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev) {
    DEVICE(pciBusId, dev);
    if (len < (int)sizeof("0000:00:00.0"))
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(pciBusId, (size_t)len, "0000:%02X:00.0", (unsigned)bus_id(dev));
    return CUDA_SUCCESS;
}

/* [domain:]bus:device[.function], in hexadecimal. */
static bool parse_bus_id(const char *text, unsigned *domain, unsigned *bus, unsigned *device,
                         unsigned *function) {
    int end = 0;

    *domain = *function = 0;
    if (sscanf(text, "%x:%x:%x%n", domain, bus, device, &end) != 3) {
        *domain = 0;
        if (sscanf(text, "%x:%x%n", bus, device, &end) != 2)
            return false;
    }
    return text[end] == '\0' || sscanf(text + end, ".%x", function) == 1;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId) {
    unsigned domain, bus, device, function;

    SIM_READY();
    if (!dev || !pciBusId || !parse_bus_id(pciBusId, &domain, &bus, &device, &function))
        return CUDA_ERROR_INVALID_VALUE;
    if (domain || device || function || bus == 0 || bus > (unsigned)sim_device_count())
        return CUDA_ERROR_INVALID_DEVICE;
    *dev = (CUdevice)bus - 1;
    return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev) {
    DEVICE(major && minor, dev);
    *major = SIM_ARCH / 10;
    *minor = SIM_ARCH % 10;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev) {
    DEVICE(prop, dev);
    *prop = (CUdevprop){
        .maxThreadsPerBlock = SIM_MAX_THREADS,
        .maxThreadsDim = {1024, 1024, 64},
        .maxGridSize = {2147483647, 65535, 65535},
        .sharedMemPerBlock = SIM_SHARED_DEFAULT,
        .totalConstantMemory = 65536,
        .SIMDWidth = 32,
        .memPitch = 2147483647,
        .regsPerBlock = SIM_REGS_PER_SM,
        .clockRate = 1000000,
        .textureAlign = 512,
    };
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev) {
    DEVICE(pi, dev);
    (void)type;
    *pi = 0;
    return CUDA_SUCCESS;
}

/* Every other one's. */
CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev) {
    DEVICE(canAccessPeer, dev);
    if (!sim_device(peerDev))
        return CUDA_ERROR_INVALID_DEVICE;
    *canAccessPeer = dev != peerDev;
    return CUDA_SUCCESS;
}
