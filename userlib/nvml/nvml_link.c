// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "nvml_link.h"

#include <pthread.h>
#include <string.h>

#include "connect.h"
#include "guest.h"
#include "rpc.h"
#include "wire.h"

static struct {
    pthread_rwlock_t lock; /* written by whoever opens or closes; read by calls */
    unsigned int users;    /* nvmlInit less nvmlShutdown */
    bool open;
    bool met; /* the devices are known */
    struct transport transport;
    unsigned int devices;
    int cuda_version;
    struct vcuda_nvml_info info;
} link_state = {.lock = PTHREAD_RWLOCK_INITIALIZER};

#define L link_state

static struct nvmlDevice_st devices[VCUDA_DEVICES_MAX];
/* Calls of this library have no context. */
static struct thread no_context;

/* What nvmlInit says for an error of cuInit. */
static nvmlReturn_t nvml_of(CUresult r) {
    switch (r) {
    case CUDA_SUCCESS:
        return NVML_SUCCESS;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_SYSTEM_NOT_READY:
        return NVML_ERROR_DRIVER_NOT_LOADED;
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return NVML_ERROR_LIB_RM_VERSION_MISMATCH;
    case CUDA_ERROR_OPERATING_SYSTEM:
        return NVML_ERROR_NO_PERMISSION;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return NVML_ERROR_INSUFFICIENT_RESOURCES;
    default:
        return NVML_ERROR_UNKNOWN;
    }
}

static CUresult meet_device(uint32_t index) {
    struct nvmlDevice_st *d = &devices[index];
    struct vcuda_device_info info;
    CUresult r = connect_device(&no_context, index, &info);

    if (r != CUDA_SUCCESS)
        return r;
    d->gone = d->known && memcmp(d->info.uuid, info.uuid, sizeof(info.uuid));
    if (!d->known)
        d->info = info;
    d->known = true;
    return CUDA_SUCCESS;
}

static CUresult meet(void) {
    uint32_t count = 0, len = 0, features = 0;
    CUresult r = connect_hello(&no_context, &L.cuda_version, &count, &features);

    for (uint32_t i = 0; i < count && r == CUDA_SUCCESS; i++)
        r = meet_device(i);
    if (r == CUDA_SUCCESS)
        r = wire_nvml_light(&no_context, 0);
    if (r == CUDA_SUCCESS)
        r = wire_nvml_open(&no_context, &L.info, sizeof(L.info), &len);
    if (r == CUDA_SUCCESS && len != sizeof(L.info))
        r = CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    if (r != CUDA_SUCCESS)
        return r;
    L.info.driver_version[sizeof(L.info.driver_version) - 1] = 0;
    L.info.nvml_version[sizeof(L.info.nvml_version) - 1] = 0;
    /* Handles that the program holds must not end: devices that went away stay, as gone. */
    for (uint32_t i = count; i < L.devices; i++)
        devices[i].gone = true;
    if (!L.met || count > L.devices)
        L.devices = count;
    L.met = true;
    return CUDA_SUCCESS;
}

static void close_session(void) {
    L.transport.close(&L.transport);
    transport_unmap(&L.transport);
    L.open = false;
}

/* Under the lock, for writing. */
static nvmlReturn_t open_session(void) {
    CUresult r = connect_transport(&L.transport);

    if (r != CUDA_SUCCESS)
        return nvml_of(r);
    L.open = true;
    r = meet();
    if (r != CUDA_SUCCESS)
        close_session();
    return nvml_of(r);
}

/* The rings are not mapped in a child, and its parent's session is not its own. */
static void in_child(void) {
    pthread_rwlock_init(&L.lock, NULL);
    if (L.open) {
        L.transport.close(&L.transport);
        L.transport.rings = NULL;
        L.open = false;
    }
    rpc_forget();
}

static void watch_forks(void) {
    pthread_atfork(NULL, NULL, in_child);
}

nvmlReturn_t link_init(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    nvmlReturn_t r = NVML_SUCCESS;

    pthread_once(&once, watch_forks);
    pthread_rwlock_wrlock(&L.lock);
    if (!L.open)
        r = open_session();
    if (r == NVML_SUCCESS)
        L.users++;
    pthread_rwlock_unlock(&L.lock);
    return r;
}

nvmlReturn_t link_shutdown(void) {
    nvmlReturn_t r = NVML_ERROR_UNINITIALIZED;

    pthread_rwlock_wrlock(&L.lock);
    if (L.users) {
        r = NVML_SUCCESS;
        if (!--L.users && L.open)
            close_session();
    }
    pthread_rwlock_unlock(&L.lock);
    return r;
}

nvmlReturn_t link_enter(struct thread **t) {
    nvmlReturn_t r;

    *t = &no_context;
    for (;;) {
        pthread_rwlock_rdlock(&L.lock);
        if (L.users && L.open)
            return NVML_SUCCESS;
        pthread_rwlock_unlock(&L.lock);
        pthread_rwlock_wrlock(&L.lock);
        r = NVML_SUCCESS;
        if (!L.users)
            r = NVML_ERROR_UNINITIALIZED;
        else if (!L.open && open_session() != NVML_SUCCESS)
            r = NVML_ERROR_GPU_IS_LOST;
        pthread_rwlock_unlock(&L.lock);
        if (r != NVML_SUCCESS)
            return r;
    }
}

void link_leave(void) {
    pthread_rwlock_unlock(&L.lock);
}

void link_lost(void) {
    pthread_rwlock_wrlock(&L.lock);
    if (L.open && rpc_lost())
        close_session();
    pthread_rwlock_unlock(&L.lock);
}

bool link_ready(void) {
    bool ready;

    pthread_rwlock_rdlock(&L.lock);
    ready = L.users != 0;
    pthread_rwlock_unlock(&L.lock);
    return ready;
}

unsigned int link_devices(void) {
    return L.devices;
}

nvmlDevice_t link_device(unsigned int index) {
    return &devices[index];
}

int link_index(nvmlDevice_t device) {
    for (unsigned int i = 0; i < L.devices; i++) {
        if (device == &devices[i])
            return (int)i;
    }
    return -1;
}

int link_cuda_version(void) {
    return L.cuda_version;
}

const struct vcuda_nvml_info *link_info(void) {
    return &L.info;
}
