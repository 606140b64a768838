/* SPDX-License-Identifier: Apache-2.0 */
/* The variables that the native library reads, with its meaning. */
#ifndef VCUDA_USERLIB_ENVIRONMENT_H
#define VCUDA_USERLIB_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_types.h"
#include "info.h"

/* CUDA_LAUNCH_BLOCKING: every launch waits for its end. Read once, at cuInit. */
extern bool environment_launch_blocking;
void environment_read(void);

/*
 * CUDA_DEVICE_ORDER and CUDA_VISIBLE_DEVICES: which of `count` devices the program sees, by index
 * and in its own order, and how many. CUDA_ERROR_NO_DEVICE: none; CUDA_ERROR_INVALID_DEVICE: no
 * such order, or a device twice.
 */
CUresult environment_devices(const struct vcuda_device_info *devices, int count,
                             uint32_t order[VCUDA_DEVICES_MAX], int *visible);

#endif
