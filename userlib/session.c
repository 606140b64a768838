// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include "arena.h"
#include "connect.h"
#include "guest.h"
#include "rpc.h"

struct session session;

static CUresult meet(struct thread *t) {
    uint32_t devices = 0;
    CUresult r = connect_hello(t, &session.driver_version, &devices);

    for (uint32_t i = 0; i < devices && r == CUDA_SUCCESS; i++)
        r = connect_device(t, i, &session.devices[i]);
    if (r == CUDA_SUCCESS)
        session.device_count = (int)devices;
    return r;
}

CUresult session_open(void) {
    struct thread *t = guest_thread();
    CUresult r;

    if (!t)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = connect_transport(&session.transport);
    if (r != CUDA_SUCCESS)
        return r;
    r = meet(t);
    if (r == CUDA_SUCCESS)
        r = arena_start(t);
    if (r != CUDA_SUCCESS) {
        rpc_abandon("it could not be set up");
        session.transport.close(&session.transport);
        transport_unmap(&session.transport);
    }
    return r;
}
