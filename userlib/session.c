// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "guest.h"
#include "local.h"
#include "rpc.h"
#include "version.h"
#include "wire.h"

struct session session;

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
        {EDQUOT, CUDA_ERROR_OUT_OF_MEMORY, "this domain has as many sessions as it may"},
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

/* VCUDA_TRANSPORT: xen, local, or auto (Xen where its device exists). */
static CUresult open_transport(void) {
    const char *which = getenv("VCUDA_TRANSPORT");
    const char *path = getenv("VCUDA_SOCKET");
    int r = -ENODEV;

    if (!path)
        path = VCUDA_LOCAL_SOCKET;
    if (!which || !strcmp(which, "auto") || !strcmp(which, "xen")) {
        r = transport_open_xen(&session.transport, VCUDA_RING_DEFAULT, VCUDA_RING_DEFAULT);
        if (!r)
            return CUDA_SUCCESS;
        if (r != -ENODEV || (which && !strcmp(which, "xen")))
            return explain(-r, "/dev/vcuda");
    }
    r = transport_open_local(&session.transport, path, VCUDA_RING_DEFAULT, VCUDA_RING_DEFAULT);
    return r ? explain(-r, path) : CUDA_SUCCESS;
}

static CUresult fetch_devices(struct thread *t, uint32_t count) {
    if (!count)
        return CUDA_ERROR_NO_DEVICE;
    if (count > VCUDA_DEVICES_MAX)
        return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    for (uint32_t i = 0; i < count; i++) {
        struct vcuda_device_info *d = &session.devices[i];
        uint32_t len = 0;
        CUresult r = wire_device_info(t, (int32_t)i, d, sizeof(*d), &len);

        if (r != CUDA_SUCCESS)
            return r;
        if (len != sizeof(*d))
            return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
        d->name[sizeof(d->name) - 1] = 0;
        d->pci_bus_id[sizeof(d->pci_bus_id) - 1] = 0;
    }
    session.device_count = (int)count;
    return CUDA_SUCCESS;
}

static CUresult say_hello(struct thread *t) {
    uint32_t version = 0, features = 0, devices = 0;
    int32_t driver = 0;
    CUresult r;

    r = wire_hello(t, VCUDA_VERSION_MIN, VCUDA_VERSION_MAX, VCUDA_FEATURES, (uint32_t)getpid(),
                   program_invocation_short_name, &version, &features, &driver, &devices);
    if (r != CUDA_SUCCESS)
        return r == VCUDA_ERROR_LOST ? CUDA_ERROR_SYSTEM_NOT_READY : r;
    if (version < VCUDA_VERSION_MIN || version > VCUDA_VERSION_MAX)
        return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    session.driver_version = driver;
    return fetch_devices(t, devices);
}

CUresult session_open(void) {
    struct thread *t = guest_thread();
    CUresult r;

    if (!t)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = open_transport();
    if (r != CUDA_SUCCESS)
        return r;
    rpc_attach(&session.transport, VCUDA_RING_DEFAULT, VCUDA_RING_DEFAULT);
    r = say_hello(t);
    if (r == CUDA_SUCCESS)
        r = arena_start(t);
    if (r != CUDA_SUCCESS) {
        rpc_abandon("it could not be set up");
        session.transport.close(&session.transport);
    }
    return r;
}
