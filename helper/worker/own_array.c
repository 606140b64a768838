// SPDX-License-Identifier: Apache-2.0
/* Arrays that belong to others, what references refer to, and memory under sparse arrays. */
#include <stdlib.h>

#include "bundle.h"
#include "texture.h"
#include "worker.h"

/* A plane goes with its array. */
CUresult own_cuArrayGetPlane(struct worker *w, struct frame *f, struct args_cuArrayGetPlane *a) {
    f->owner = a->hArray_name;
    return w->driver.cuArrayGetPlane(&a->pPlaneArray, a->hArray, a->planeIdx);
}

/* A level goes with all of them. */
CUresult own_cuMipmappedArrayGetLevel(struct worker *w, struct frame *f,
                                      struct args_cuMipmappedArrayGetLevel *a) {
    f->owner = a->hMipmappedArray_name;
    return w->driver.cuMipmappedArrayGetLevel(&a->pLevelArray, a->hMipmappedArray, a->level);
}

CUresult own_cuModuleGetTexRef(struct worker *w, struct frame *f,
                               struct args_cuModuleGetTexRef *a) {
    f->owner = a->hmod_name;
    bundle_give_up(); /* whether a graph's kernels see what is bound later is not known */
    return w->driver.cuModuleGetTexRef(&a->pTexRef, a->hmod, a->name);
}

CUresult own_cuModuleGetSurfRef(struct worker *w, struct frame *f,
                                struct args_cuModuleGetSurfRef *a) {
    f->owner = a->hmod_name;
    bundle_give_up();
    return w->driver.cuModuleGetSurfRef(&a->pSurfRef, a->hmod, a->name);
}

/* The driver may still speak of an array that has ended: that one has no name. */
#define IF_KNOWN(w, kind, object)                                                                  \
    do {                                                                                           \
        if (!objects_known(&(w)->objects, kind, object))                                           \
            (object) = NULL;                                                                       \
    } while (0)

CUresult own_cuTexRefGetArray(struct worker *w, struct frame *f, struct args_cuTexRefGetArray *a) {
    CUresult r = w->driver.cuTexRefGetArray(&a->phArray, a->hTexRef);

    (void)f;
    IF_KNOWN(w, VCUDA_KIND_ARRAY, a->phArray);
    return r;
}

CUresult own_cuTexRefGetMipmappedArray(struct worker *w, struct frame *f,
                                       struct args_cuTexRefGetMipmappedArray *a) {
    CUresult r = w->driver.cuTexRefGetMipmappedArray(&a->phMipmappedArray, a->hTexRef);

    (void)f;
    IF_KNOWN(w, VCUDA_KIND_MIPMAP, a->phMipmappedArray);
    return r;
}

CUresult own_cuSurfRefGetArray(struct worker *w, struct frame *f,
                               struct args_cuSurfRefGetArray *a) {
    CUresult r = w->driver.cuSurfRefGetArray(&a->phArray, a->hSurfRef);

    (void)f;
    IF_KNOWN(w, VCUDA_KIND_ARRAY, a->phArray);
    return r;
}

CUresult own_cuTexRefSetBorderColor(struct worker *w, struct frame *f,
                                    struct args_cuTexRefSetBorderColor *a) {
    float color[4] = {a->red, a->green, a->blue, a->alpha};

    (void)f;
    return w->driver.cuTexRefSetBorderColor(a->hTexRef, color);
}

CUresult own_cuTexRefGetBorderColor(struct worker *w, struct frame *f,
                                    struct args_cuTexRefGetBorderColor *a) {
    float color[4] = {0};
    CUresult r = w->driver.cuTexRefGetBorderColor(color, a->hTexRef);

    (void)f;
    if (r == CUDA_SUCCESS) {
        a->red = color[0];
        a->green = color[1];
        a->blue = color[2];
        a->alpha = color[3];
    }
    return r;
}

static CUresult unpack_map(struct worker *w, const struct vcuda_array_map *m, CUarrayMapInfo *d) {
    enum vcuda_kind kind =
        m->resource_type == CU_RESOURCE_TYPE_ARRAY ? VCUDA_KIND_ARRAY : VCUDA_KIND_MIPMAP;
    void *resource, *memory;
    CUresult r;

    if (m->resource_type != CU_RESOURCE_TYPE_ARRAY &&
        m->resource_type != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    r = frame_object(w, kind, m->resource, &resource);
    if (r == CUDA_SUCCESS)
        r = frame_object_or_null(w, VCUDA_KIND_MEMORY, m->memory, &memory);
    if (r != CUDA_SUCCESS)
        return r;
    *d = (CUarrayMapInfo){
        .resourceType = (CUresourcetype)m->resource_type,
        .resource.array = resource, /* a union of handles */
        .subresourceType = (CUarraySparseSubresourceType)m->subresource_type,
        .memOperationType = (CUmemOperationType)m->operation,
        .memHandleType = (CUmemHandleType)m->handle_type,
        .memHandle.memHandle = (CUmemGenericAllocationHandle)memory,
        .offset = m->memory_offset,
        .deviceBitMask = m->device_mask,
        .flags = m->flags,
    };
    if (m->subresource_type == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL) {
        d->subresource.sparseLevel.level = m->level;
        d->subresource.sparseLevel.layer = m->layer;
        d->subresource.sparseLevel.offsetX = m->offset[0];
        d->subresource.sparseLevel.offsetY = m->offset[1];
        d->subresource.sparseLevel.offsetZ = m->offset[2];
        d->subresource.sparseLevel.extentWidth = m->extent[0];
        d->subresource.sparseLevel.extentHeight = m->extent[1];
        d->subresource.sparseLevel.extentDepth = m->extent[2];
    } else {
        d->subresource.miptail.layer = m->layer;
        d->subresource.miptail.offset = m->tail_offset;
        d->subresource.miptail.size = m->tail_bytes;
    }
    return CUDA_SUCCESS;
}

CUresult own_map_arrays(struct worker *w, struct frame *f, struct args_map_arrays *a) {
    const struct vcuda_array_map *given = a->list;
    uint32_t count = a->list_len / (uint32_t)sizeof(*given);
    CUarrayMapInfo *list;
    CUresult r = CUDA_SUCCESS;

    (void)f;
    if (!count || a->list_len % sizeof(*given) || count > VCUDA_ARRAY_MAPS_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    list = calloc(count, sizeof(*list));
    if (!list)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < count && r == CUDA_SUCCESS; i++)
        r = unpack_map(w, &given[i], &list[i]);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuMemMapArrayAsync(list, count, a->stream);
    free(list);
    return r;
}
