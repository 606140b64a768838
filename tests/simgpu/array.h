/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: device memory that copies, textures and surfaces reach, dense, row by row. */
#ifndef SIMGPU_ARRAY_H
#define SIMGPU_ARRAY_H

#include "sim.h"

struct sim_array {
    struct sim_object object;
    struct sim_context *context;
    uint64_t owner; /* the context's id */
    CUDA_ARRAY3D_DESCRIPTOR desc;
    size_t element;             /* bytes */
    size_t pitch, rows, slices; /* bytes, rows, slices or layers */
    uint64_t addr;
    bool level; /* of a mipmapped array, which owns its memory */
};

/* The array behind a handle, a reference, or the error to return. */
CUresult sim_array_get(CUarray handle, struct sim_array **out);

/* The first level of a mipmapped array, behind which the others lie, and how many there are. */
CUresult sim_mipmap_get(CUmipmappedArray handle, struct sim_array **base, unsigned *levels);
#define SIM_LEVEL_ALIGN 512 /* bytes */

#endif
