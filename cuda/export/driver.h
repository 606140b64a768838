/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables ask of the driver that they are built into, beside the public calls. */
#ifndef CUDA_EXPORT_DRIVER_H
#define CUDA_EXPORT_DRIVER_H

#include <stdint.h>

#include "cuda_types.h"

/* CUDA_SUCCESS, or why no call can be served. */
CUresult export_ready(void);

/* The primary context of a device, which is not made active by that. */
CUresult export_primary(CUcontext *context, CUdevice dev);

/* The number of an open context, which no later one gets; NULL means the current one. */
CUresult export_context(CUcontext context, uint64_t *number);

#endif
