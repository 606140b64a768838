/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of a device's multiprocessors. */
#ifndef SIMGPU_GREEN_H
#define SIMGPU_GREEN_H

#include "sim.h"

/* Which multiprocessors, one bit each; the private part of a resource. */
struct sim_share {
    uint64_t bits[(SIM_SM_COUNT + 63) / 64];
    int device;
};

struct sim_share sim_share_all(const struct sim_device *device);
unsigned sim_share_count(const struct sim_share *share);

/* The share as a resource, or CUDA_ERROR_INVALID_RESOURCE_TYPE: no device has such. */
CUresult sim_share_tell(const struct sim_share *share, CUdevResourceType type, CUdevResource *out);

/* What cuDevResourceGenerateDesc made. CUDA_ERROR_INVALID_VALUE: nothing. */
CUresult sim_share_of_desc(CUdevResourceDesc desc, struct sim_share *share);

#endif
