// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include "ahead.h"
#include "arena.h"
#include "connect.h"
#include "environment.h"
#include "guest.h"
#include "pump.h"
#include "submit.h"
#include "version.h"
#include "wire.h"

struct session session;

static CUresult ask_devices(struct thread *t, uint32_t count) {
    CUresult r = CUDA_SUCCESS;

    for (uint32_t i = 0; i < count && r == CUDA_SUCCESS; i++)
        r = connect_device(t, i, &session.devices[i]);
    if (r == CUDA_SUCCESS)
        session.device_count = (int)count;
    return r;
}

/* Has the worker forget the devices that the program is not to see, and number the others so. */
static CUresult select_devices(struct thread *t) {
    uint32_t order[VCUDA_DEVICES_MAX];
    int visible, same = 0;
    CUresult r = environment_devices(session.devices, session.device_count, order, &visible);

    if (r != CUDA_SUCCESS)
        return r;
    while (same < visible && order[same] == (uint32_t)same)
        same++;
    if (same == session.device_count)
        return CUDA_SUCCESS;
    r = wire_select_devices(t, order, (uint32_t)visible * (uint32_t)sizeof(order[0]));
    return r == CUDA_SUCCESS ? ask_devices(t, (uint32_t)visible) : r;
}

static CUresult meet(struct thread *t) {
    uint32_t devices = 0, features = 0;
    CUresult r = connect_hello(t, &session.driver_version, &devices, &features);

    ahead_attach(submission.transport->rings, features & VCUDA_FEATURE_AHEAD);
    if (r == CUDA_SUCCESS)
        r = ask_devices(t, devices);
    return r == CUDA_SUCCESS ? select_devices(t) : r;
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
        pump_abandon("it could not be set up");
        session.transport.close(&session.transport);
        transport_unmap(&session.transport);
    }
    return r;
}
