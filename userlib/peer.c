// SPDX-License-Identifier: Apache-2.0
/* Devices that reach each other, and what they can do to each other's memory. */
#include "cuda_calls.h"
#include "guest.h"
#include "wire.h"

/* Questions about more operations than there are. */
#define OPERATIONS_MAX 64u

static bool is_device(CUdevice dev) {
    return dev >= 0 && dev < guest_device_count();
}

/* What questions about operations are judged by first. */
static CUresult enter_atomics(struct thread **t, const unsigned int *capabilities,
                              const CUatomicOperation *operations, unsigned int count, CUdevice one,
                              CUdevice other) {
    CUresult r = guest_enter_any(t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!capabilities || !operations || !count || count > OPERATIONS_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    return is_device(one) && is_device(other) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

VCUDA_EXPORT CUresult cuDeviceGetHostAtomicCapabilities(unsigned int *capabilities,
                                                        const CUatomicOperation *operations,
                                                        unsigned int count, CUdevice dev) {
    uint32_t bytes = count * (uint32_t)sizeof(*capabilities), got;
    struct thread *t;
    CUresult r = enter_atomics(&t, capabilities, operations, count, dev, dev);

    if (r != CUDA_SUCCESS)
        return r;
    return wire_cuDeviceGetHostAtomicCapabilities(t, capabilities, bytes, &got, operations, bytes,
                                                  dev);
}

VCUDA_EXPORT CUresult cuDeviceGetP2PAtomicCapabilities(unsigned int *capabilities,
                                                       const CUatomicOperation *operations,
                                                       unsigned int count, CUdevice srcDevice,
                                                       CUdevice dstDevice) {
    uint32_t bytes = count * (uint32_t)sizeof(*capabilities), got;
    struct thread *t;
    CUresult r = enter_atomics(&t, capabilities, operations, count, srcDevice, dstDevice);

    if (r != CUDA_SUCCESS)
        return r;
    return wire_cuDeviceGetP2PAtomicCapabilities(t, capabilities, bytes, &got, operations, bytes,
                                                 srcDevice, dstDevice);
}

static CUresult enter_graph_memory(struct thread **t, CUdevice device, const void *value) {
    CUresult r = guest_enter_any(t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    return is_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/* Amounts of memory, all 64 bits long. */
VCUDA_EXPORT CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                                   void *value) {
    struct thread *t;
    CUresult r = enter_graph_memory(&t, device, value);

    if (r != CUDA_SUCCESS)
        return r;
    return wire_cuDeviceGetGraphMemAttribute(t, device, (int32_t)attr, value);
}

VCUDA_EXPORT CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                                   void *value) {
    struct thread *t;
    CUresult r = enter_graph_memory(&t, device, value);

    if (r != CUDA_SUCCESS)
        return r;
    return wire_cuDeviceSetGraphMemAttribute(t, device, (int32_t)attr, *(uint64_t *)value);
}
