// SPDX-License-Identifier: Apache-2.0
/* Hello, and what the guest may know of its devices. */

#include "barrier.h"
#include "log.h"
#include "memory.h"
#include "version.h"
#include "worker.h"

CUresult worker_device(const struct worker *w, int guest_device, CUdevice *device) {
    if (guest_device < 0 || guest_device >= w->gpu_count)
        return CUDA_ERROR_INVALID_DEVICE;
    return w->driver.cuDeviceGet(device, w->gpus[guest_device]);
}

int worker_guest_device(const struct worker *w, CUdevice device) {
    for (int i = 0; i < w->gpu_count; i++) {
        CUdevice ours;

        if (worker_device(w, i, &ours) == CUDA_SUCCESS && ours == device)
            return i;
    }
    return -1;
}

CUresult own_hello(struct worker *w, struct frame *f, struct args_hello *a) {
    (void)f;
    a->version = vcuda_version_common(a->version_min, a->version_max);
    if (!a->version) {
        vcuda_log(VCUDA_LOG_WARNING, "library speaks versions %u to %u, this worker %u to %u",
                  a->version_min, a->version_max, VCUDA_VERSION_MIN, VCUDA_VERSION_MAX);
        return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    }
    a->common = a->features & VCUDA_SESSION_FEATURES;
    a->driver_version = w->driver_version;
    a->devices = (uint32_t)w->gpu_count;
    vcuda_stats_set(&w->stats->program, a->pid);
    vcuda_log(VCUDA_LOG_INFO, "serves %s, pid %u of the guest", a->program, a->pid);
    return CUDA_SUCCESS;
}

/* What the driver says of itself, less what does not reach a guest: handles of a fabric. */
static int attribute_for_guests(CUdevice_attribute attribute, int value) {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
        return 0;
    case CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES:
        return value & ~CU_MEM_HANDLE_TYPE_FABRIC;
    default:
        return value;
    }
}

static void fill_attributes(struct worker *w, CUdevice device, struct vcuda_device_info *info) {
    for (int i = 0; i < VCUDA_ATTRIBUTES; i++) {
        int value;

        info->attributes[i] = VCUDA_ATTRIBUTE_NONE;
        if (i &&
            w->driver.cuDeviceGetAttribute(&value, (CUdevice_attribute)i, device) == CUDA_SUCCESS)
            info->attributes[i] = attribute_for_guests((CUdevice_attribute)i, value);
    }
}

static uint32_t peers_of(struct worker *w, CUdevice device) {
    uint32_t peers = 0;

    for (int i = 0; i < w->gpu_count; i++) {
        CUdevice other;
        int can = 0;

        if (worker_device(w, i, &other) == CUDA_SUCCESS && other != device &&
            w->driver.cuDeviceCanAccessPeer(&can, device, other) == CUDA_SUCCESS && can)
            peers |= 1u << i;
    }
    return peers;
}

CUresult own_device_info(struct worker *w, struct frame *f, struct args_device_info *a) {
    struct vcuda_device_info *info = a->info;
    CUdevice device;
    CUuuid uuid;
    size_t bytes = 0;
    CUresult r = worker_device(w, a->device, &device);

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    if (a->info_cap < sizeof(*info))
        return CUDA_ERROR_INVALID_VALUE;
    r = w->driver.cuDeviceGetName(info->name, sizeof(info->name), device);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuDeviceGetUuid_v2(&uuid, device);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuDeviceTotalMem_v2(&bytes, device);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuDeviceGetPCIBusId(info->pci_bus_id, sizeof(info->pci_bus_id), device);
    if (r != CUDA_SUCCESS)
        return r;
    memcpy(info->uuid, uuid.bytes, sizeof(info->uuid));
    info->total_memory = memory_size(bytes);
    info->peers = peers_of(w, device);
    fill_attributes(w, device, info);
    a->info_len = sizeof(*info);
    return CUDA_SUCCESS;
}

/* Before the first context, so that no index has a meaning yet. */
CUresult own_select_devices(struct worker *w, struct frame *f, struct args_select_devices *a) {
    const uint32_t *order = a->order;
    uint32_t count = a->order_len / (uint32_t)sizeof(*order), seen = 0;
    int gpus[VCUDA_DEVICES_MAX];

    (void)f;
    if (a->order_len % sizeof(*order) || !count || count > (uint32_t)w->gpu_count ||
        vcuda_exchange(&w->selected, 1))
        return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < count; i++) {
        if (order[i] >= (uint32_t)w->gpu_count || seen & 1u << order[i])
            return CUDA_ERROR_INVALID_VALUE;
        seen |= 1u << order[i];
        gpus[i] = w->gpus[order[i]];
    }
    if (gpus[0] != w->gpus[0])
        regions_unregistered(w); /* the context that was made ahead is of another device */
    memcpy(w->gpus, gpus, count * sizeof(gpus[0]));
    w->gpu_count = (int)count;
    return CUDA_SUCCESS;
}
