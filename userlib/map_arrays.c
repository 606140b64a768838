// SPDX-License-Identifier: Apache-2.0
/* Memory under sparse arrays. */
#include <stdlib.h>

#include "cuda_calls.h"
#include "guest.h"
#include "texture.h"
#include "wire.h"

static void pack(struct vcuda_array_map *w, const CUarrayMapInfo *m) {
    *w = (struct vcuda_array_map){
        .resource_type = m->resourceType,
        .subresource_type = m->subresourceType,
        .resource = (uint64_t)m->resource.array, /* a union of handles */
        .operation = m->memOperationType,
        .handle_type = m->memHandleType,
        .memory = m->memHandle.memHandle,
        .memory_offset = m->offset,
        .device_mask = m->deviceBitMask,
        .flags = m->flags,
    };
    if (m->subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL) {
        w->level = m->subresource.sparseLevel.level;
        w->layer = m->subresource.sparseLevel.layer;
        w->offset[0] = m->subresource.sparseLevel.offsetX;
        w->offset[1] = m->subresource.sparseLevel.offsetY;
        w->offset[2] = m->subresource.sparseLevel.offsetZ;
        w->extent[0] = m->subresource.sparseLevel.extentWidth;
        w->extent[1] = m->subresource.sparseLevel.extentHeight;
        w->extent[2] = m->subresource.sparseLevel.extentDepth;
    } else {
        w->layer = m->subresource.miptail.layer;
        w->tail_offset = m->subresource.miptail.offset;
        w->tail_bytes = m->subresource.miptail.size;
    }
}

VCUDA_EXPORT CUresult cuMemMapArrayAsync(CUarrayMapInfo *mapInfoList, unsigned int count,
                                         CUstream hStream) {
    struct vcuda_array_map *list;
    uint64_t name;
    struct thread *t;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r != CUDA_SUCCESS)
        return r;
    if (!mapInfoList || !count)
        return CUDA_ERROR_INVALID_VALUE;
    list = calloc(VCUDA_ARRAY_MAPS_MAX, sizeof(*list));
    if (!list)
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* What one record does not hold goes in several: each is in the stream's order. */
    while (count && r == CUDA_SUCCESS) {
        unsigned int now = count < VCUDA_ARRAY_MAPS_MAX ? count : VCUDA_ARRAY_MAPS_MAX;

        for (unsigned int i = 0; i < now; i++)
            pack(&list[i], &mapInfoList[i]);
        r = wire_map_arrays(t, list, now * (uint32_t)sizeof(*list), name);
        mapInfoList += now;
        count -= now;
    }
    free(list);
    return r;
}
