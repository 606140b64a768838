/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch, a graph's node and an occupancy query have in common. */
#ifndef VCUDA_USERLIB_LAUNCH_H
#define VCUDA_USERLIB_LAUNCH_H

#include "code.h"

struct launch {
    unsigned int grid[3], block[3];
    unsigned int shared; /* bytes, dynamic */
    CUstream stream;
    struct vcuda_launch_attribute *attributes; /* room of the caller's, if there can be any */
    uint32_t attribute_count;
};

/*
 * Takes the caller's configuration over, its attributes translated as the worker wants them, into
 * `room` for VCUDA_LAUNCH_ATTRIBUTES_MAX of them.
 */
CUresult launch_read_config(struct launch *l, struct vcuda_launch_attribute *room,
                            const CUlaunchConfig *config);

/* Checks all of it and sends it off. */
CUresult launch_make(const struct launch *l, CUfunction function, void **kernel_params,
                     void **extra);

#endif
