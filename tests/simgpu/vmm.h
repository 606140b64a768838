/* SPDX-License-Identifier: Apache-2.0 */
/* Physical memory, for the calls that make and map it and those that pass it on. */
#ifndef SIMGPU_VMM_H
#define SIMGPU_VMM_H

#include "sim.h"

/* Physical memory. Its handle counts how often it is held; each mapping has a reference. */
struct sim_memory {
    struct sim_object object;
    struct sim_device *device;
    CUmemAllocationProp prop;
    size_t size;
    int fd;
    bool imported; /* another process' */
    atomic_uint holds;
};

/* A reference to the memory of a handle, or NULL. */
struct sim_memory *sim_physical_get(CUmemGenericAllocationHandle handle);
/*
 * Memory with a handle, in the pages of a file, whose descriptor is taken over; and a reference.
 * Its bytes were taken from the device's, unless it is imported. NULL: out of memory.
 */
struct sim_memory *sim_physical_new(const CUmemAllocationProp *prop, size_t size, int fd,
                                    bool imported);

#endif
