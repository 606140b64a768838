// SPDX-License-Identifier: Apache-2.0
/* The copies of memcpy nodes. */
#include "addresses.h"
#include "graph_params.h"

/* Host memory must be the guest's, all that the copy touches of it. */
static CUresult place_native(struct worker *w, const struct vcuda_copy3d *c,
                             const struct vcuda_place *p, CUarray *array) {
    __u64 first, bytes;

    *array = NULL;
    switch (p->type) {
    case VCUDA_PLACE_HOST:
        bytes = vcuda_place_span(c, p, &first);
        return bytes && vcuda_place_apart(c, p) && regions_hold(w, first, bytes)
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    case VCUDA_PLACE_DEVICE:
        return addresses_place_ok(w, c, p) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case VCUDA_PLACE_ARRAY:
        return frame_object(w, VCUDA_KIND_ARRAY, p->base, (void **)array);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult copy3d_native(struct worker *w, const struct vcuda_copy3d *c, CUDA_MEMCPY3D *out) {
    CUresult r = place_native(w, c, &c->src, &out->srcArray);

    if (r == CUDA_SUCCESS)
        r = place_native(w, c, &c->dst, &out->dstArray);
    if (r != CUDA_SUCCESS)
        return r;
    if (c->src.type == VCUDA_PLACE_HOST)
        out->srcHost = (const void *)c->src.base;
    else
        out->srcDevice = c->src.base;
    if (c->dst.type == VCUDA_PLACE_HOST)
        out->dstHost = (void *)c->dst.base;
    else
        out->dstDevice = c->dst.base;
    out->srcMemoryType = (CUmemorytype)c->src.type;
    out->srcXInBytes = c->src.x, out->srcY = c->src.y, out->srcZ = c->src.z;
    out->srcLOD = c->src.lod, out->srcPitch = c->src.pitch, out->srcHeight = c->src.height;
    out->dstMemoryType = (CUmemorytype)c->dst.type;
    out->dstXInBytes = c->dst.x, out->dstY = c->dst.y, out->dstZ = c->dst.z;
    out->dstLOD = c->dst.lod, out->dstPitch = c->dst.pitch, out->dstHeight = c->dst.height;
    out->WidthInBytes = c->width;
    out->Height = c->rows;
    out->Depth = c->slices;
    return CUDA_SUCCESS;
}

static uint64_t base_of(struct worker *w, CUmemorytype type, const void *host, CUdeviceptr device,
                        CUarray array) {
    if (type == CU_MEMORYTYPE_ARRAY)
        return objects_known(&w->objects, VCUDA_KIND_ARRAY, array);
    return type == CU_MEMORYTYPE_HOST ? (uint64_t)host : device;
}

CUresult copy3d_told(struct worker *w, const CUDA_MEMCPY3D *in, struct vcuda_copy3d *out) {
    *out = (struct vcuda_copy3d){
        .src = {.base = base_of(w, in->srcMemoryType, in->srcHost, in->srcDevice, in->srcArray),
                .x = in->srcXInBytes,
                .y = in->srcY,
                .z = in->srcZ,
                .lod = in->srcLOD,
                .pitch = in->srcPitch,
                .height = in->srcHeight,
                .type = in->srcMemoryType},
        .dst = {.base = base_of(w, in->dstMemoryType, in->dstHost, in->dstDevice, in->dstArray),
                .x = in->dstXInBytes,
                .y = in->dstY,
                .z = in->dstZ,
                .lod = in->dstLOD,
                .pitch = in->dstPitch,
                .height = in->dstHeight,
                .type = in->dstMemoryType},
        .width = in->WidthInBytes,
        .rows = in->Height,
        .slices = in->Depth,
        .form = VCUDA_FORM_3D,
    };
    return CUDA_SUCCESS;
}
