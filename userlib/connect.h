/* SPDX-License-Identifier: Apache-2.0 */
/* The first steps of a session: transport, hello, what the devices are. */
#ifndef VCUDA_USERLIB_CONNECT_H
#define VCUDA_USERLIB_CONNECT_H

#include <stdint.h>

#include "cuda_types.h"
#include "info.h"
#include "transport.h"

struct thread;

/*
 * Opens the transport that VCUDA_TRANSPORT asks for (xen, local, or auto: Xen where its device
 * exists) and attaches the rings: CUDA_SUCCESS or the error of cuInit.
 */
CUresult connect_transport(struct transport *t);

/*
 * Says hello for this program: the driver's version, the number of devices, 1 to
 * VCUDA_DEVICES_MAX, and VCUDA_FEATURE_* that the worker has as well.
 */
CUresult connect_hello(struct thread *t, int *driver_version, uint32_t *devices,
                       uint32_t *features);

/* What the worker tells of a device; its texts end. */
CUresult connect_device(struct thread *t, uint32_t index, struct vcuda_device_info *info);

#endif
