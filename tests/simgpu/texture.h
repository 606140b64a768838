/* SPDX-License-Identifier: Apache-2.0 */
/* What texture objects, surface objects and references of both are made of. */
#ifndef SIMGPU_TEXTURE_H
#define SIMGPU_TEXTURE_H

#include "array.h"
#include "sim.h"

struct sim_texture {
    struct sim_object object;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC how; /* of a texture */
    CUDA_RESOURCE_VIEW_DESC view;
    struct ptx_image image;
};

/* How one is made, for objects and references. CUDA_ERROR_INVALID_VALUE: it cannot be. */
CUresult sim_texture_new(const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *how,
                         struct sim_texture **out);
CUresult sim_surface_new(const CUDA_RESOURCE_DESC *resource, struct sim_texture **out);

/* Ends a module's references. */
void sim_references_free(struct sim_reference *list);

#endif
