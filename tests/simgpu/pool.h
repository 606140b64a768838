/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools, for the calls that make and use them and those that pass them on. */
#ifndef SIMGPU_POOL_H
#define SIMGPU_POOL_H

#include "sim.h"

struct sim_pool {
    struct sim_object object;
    struct sim_device *device;
    bool is_default;
    pthread_mutex_t lock;
    uint32_t reuse[3];   /* switches; nothing here depends on them */
    uint64_t threshold;  /* bytes; likewise */
    uint64_t used, high; /* bytes */
    uint64_t limit;      /* bytes; 0: the device's */
    uint64_t id;         /* of one that may be passed on; 0: it may not */
    bool imported;       /* another process' */
    unsigned access[SIM_MAX_DEVICES];
};

/* A reference to the pool of a handle, or the error to return. */
CUresult sim_pool_get(CUmemoryPool handle, struct sim_pool **out);
/* A new pool with a handle, and a reference. NULL: out of memory. */
struct sim_pool *sim_pool_new(struct sim_device *device, bool is_default);

#endif
