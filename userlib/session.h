/* SPDX-License-Identifier: Apache-2.0 */
/* Opening of the session: transport, hello, devices. */
#ifndef VCUDA_USERLIB_SESSION_H
#define VCUDA_USERLIB_SESSION_H

#include "cuda_types.h"
#include "info.h"
#include "transport.h"

struct session {
    struct transport transport;
    int driver_version;
    int device_count;
    struct vcuda_device_info devices[VCUDA_DEVICES_MAX];
};

/* The one session of this process. */
extern struct session session;

/* Opens it: CUDA_SUCCESS or the error of cuInit. */
CUresult session_open(void);

#endif
