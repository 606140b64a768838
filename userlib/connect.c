// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "connect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "layout.h"
#include "local.h"
#include "rpc.h"
#include "version.h"
#include "wire.h"

/* cuInit's error for a transport that cannot be had, and what to do about it. */
static CUresult explain(int err, const char *where) {
    static const struct {
        int err;
        CUresult result;
        const char *remedy;
    } cases[] = {
        {ENODEV, CUDA_ERROR_NO_DEVICE,
         "no GPU is attached: load vcuda-front and have dom0 run 'vcudactl attach', or start "
         "vcudad "
         "on this machine"},
        {ESHUTDOWN, CUDA_ERROR_SYSTEM_NOT_READY, "vcudad does not run in dom0"},
        {ECONNREFUSED, CUDA_ERROR_SYSTEM_NOT_READY, "vcudad does not run on this machine"},
        {EPROTO, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "library and helper are of different versions"},
        {EACCES, CUDA_ERROR_OPERATING_SYSTEM, "no permission to open the device or the socket"},
        {EPERM, CUDA_ERROR_OPERATING_SYSTEM, "no permission to open the device or the socket"},
        {EDQUOT, CUDA_ERROR_OUT_OF_MEMORY,
         "this domain, or this user, has as many sessions as it may"},
        {ENOSPC, CUDA_ERROR_OUT_OF_MEMORY, "the domain has no grants left"},
        {ENOMEM, CUDA_ERROR_OUT_OF_MEMORY, "out of memory"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cases[i].err == err) {
            guest_log("cannot open %s: %s", where, cases[i].remedy);
            return cases[i].result;
        }
    }
    guest_log("cannot open %s: %s", where, strerror(err));
    return CUDA_ERROR_SYSTEM_NOT_READY;
}

static CUresult attach(struct transport *t) {
    rpc_attach(t, VCUDA_RING_DEFAULT, VCUDA_RING_DEFAULT);
    return CUDA_SUCCESS;
}

CUresult connect_transport(struct transport *t) {
    const char *which = getenv("VCUDA_TRANSPORT");
    const char *path = getenv("VCUDA_SOCKET");
    int r = -ENODEV;

    if (!path)
        path = VCUDA_LOCAL_SOCKET;
    if (!which || !strcmp(which, "auto") || !strcmp(which, "xen")) {
        r = transport_open_xen(t, VCUDA_RING_DEFAULT, VCUDA_RING_DEFAULT);
        if (!r)
            return attach(t);
        if (r != -ENODEV || (which && !strcmp(which, "xen")))
            return explain(-r, "/dev/vcuda");
    }
    r = transport_open_local(t, path, VCUDA_RING_DEFAULT, VCUDA_RING_DEFAULT);
    return r ? explain(-r, path) : attach(t);
}

CUresult connect_hello(struct thread *t, int *driver_version, uint32_t *devices,
                       uint32_t *features) {
    uint32_t version = 0;
    CUresult r;

    r = wire_hello(t, VCUDA_VERSION_MIN, VCUDA_VERSION_MAX, VCUDA_SESSION_FEATURES,
                   (uint32_t)getpid(), program_invocation_short_name, &version, features,
                   driver_version, devices);
    if (r != CUDA_SUCCESS)
        return r == VCUDA_ERROR_LOST ? CUDA_ERROR_SYSTEM_NOT_READY : r;
    if (version < VCUDA_VERSION_MIN || version > VCUDA_VERSION_MAX || *devices > VCUDA_DEVICES_MAX)
        return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    return *devices ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult connect_device(struct thread *t, uint32_t index, struct vcuda_device_info *info) {
    uint32_t len = 0;
    CUresult r = wire_device_info(t, (int32_t)index, info, sizeof(*info), &len);

    if (r != CUDA_SUCCESS)
        return r;
    if (len != sizeof(*info))
        return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    info->name[sizeof(info->name) - 1] = 0;
    info->pci_bus_id[sizeof(info->pci_bus_id) - 1] = 0;
    return CUDA_SUCCESS;
}
