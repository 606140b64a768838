// SPDX-License-Identifier: Apache-2.0
/* The copies of memcpy nodes. */
#include <string.h>

#include "arena.h"
#include "graph_host.h"
#include "graph_node.h"
#include "whose.h"

/* One side of the program's, as it gave it. */
static struct vcuda_place place(CUmemorytype type, const void *host, CUdeviceptr device,
                                CUarray array) {
    struct vcuda_place p = {.type = type};

    switch (type) {
    case CU_MEMORYTYPE_HOST:
        p.base = (uint64_t)host;
        break;
    case CU_MEMORYTYPE_ARRAY:
        p.base = (uint64_t)array;
        break;
    default:
        p.base = device;
    }
    return p;
}

/* What the memory is, by its address. */
static CUresult settle(const struct vcuda_copy3d *c, struct vcuda_place *p) {
    __u64 first, bytes;

    switch (p->type) {
    case CU_MEMORYTYPE_ARRAY:
        return guest_check(VCUDA_KIND_ARRAY, (const void *)p->base);
    case CU_MEMORYTYPE_UNIFIED:
        p->type = whose_device(p->base) ? VCUDA_PLACE_DEVICE : VCUDA_PLACE_HOST;
        break;
    case CU_MEMORYTYPE_HOST:
        break;
    case CU_MEMORYTYPE_DEVICE:
        if (arena_holds((const void *)p->base, 1))
            p->type = VCUDA_PLACE_HOST;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!p->base)
        return CUDA_ERROR_INVALID_VALUE;
    /* Left out: rows, or slices, lie close. */
    if (!p->pitch)
        p->pitch = p->x + c->width;
    if (!p->height)
        p->height = p->y + c->rows;
    if (!vcuda_place_apart(c, p))
        return CUDA_ERROR_INVALID_VALUE;
    if (p->type == VCUDA_PLACE_DEVICE)
        return CUDA_SUCCESS;
    bytes = vcuda_place_span(c, p, &first);
    return !bytes || arena_overrun((const void *)first, bytes) ? CUDA_ERROR_INVALID_VALUE
                                                               : CUDA_SUCCESS;
}

CUresult node_settle_copy(struct vcuda_copy3d *c) {
    CUresult r = settle(c, &c->src);

    return r == CUDA_SUCCESS ? settle(c, &c->dst) : r;
}

CUresult node_write_copy(struct thread *t, const CUDA_MEMCPY3D *c, uint64_t owner, uint64_t node,
                         struct node_record *record) {
    struct vcuda_copy3d *out = &record->node.copy;
    CUresult r;

    *out = (struct vcuda_copy3d){
        .dst = place(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray),
        .src = place(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray),
        .width = c->WidthInBytes,
        .rows = c->Height,
        .slices = c->Depth,
        .form = VCUDA_FORM_3D,
    };
    out->dst.x = c->dstXInBytes, out->dst.y = c->dstY, out->dst.z = c->dstZ;
    out->dst.lod = c->dstLOD, out->dst.pitch = c->dstPitch, out->dst.height = c->dstHeight;
    out->src.x = c->srcXInBytes, out->src.y = c->srcY, out->src.z = c->srcZ;
    out->src.lod = c->srcLOD, out->src.pitch = c->srcPitch, out->src.height = c->srcHeight;
    r = node_settle_copy(out);
    return r == CUDA_SUCCESS ? graph_host_buffer(t, owner, node, out, &record->held) : r;
}

void node_read_copy(const struct vcuda_copy3d *c, CUDA_MEMCPY3D *out) {
    *out = (CUDA_MEMCPY3D){
        .srcXInBytes = c->src.x,
        .srcY = c->src.y,
        .srcZ = c->src.z,
        .srcLOD = c->src.lod,
        .srcMemoryType = (CUmemorytype)c->src.type,
        .srcPitch = c->src.pitch,
        .srcHeight = c->src.height,
        .dstXInBytes = c->dst.x,
        .dstY = c->dst.y,
        .dstZ = c->dst.z,
        .dstLOD = c->dst.lod,
        .dstMemoryType = (CUmemorytype)c->dst.type,
        .dstPitch = c->dst.pitch,
        .dstHeight = c->dst.height,
        .WidthInBytes = c->width,
        .Height = c->rows,
        .Depth = c->slices,
    };
    if (c->src.type == CU_MEMORYTYPE_HOST)
        out->srcHost = (const void *)c->src.base;
    else if (c->src.type == CU_MEMORYTYPE_ARRAY)
        out->srcArray = (CUarray)c->src.base;
    else
        out->srcDevice = c->src.base;
    if (c->dst.type == CU_MEMORYTYPE_HOST)
        out->dstHost = (void *)c->dst.base;
    else if (c->dst.type == CU_MEMORYTYPE_ARRAY)
        out->dstArray = (CUarray)c->dst.base;
    else
        out->dstDevice = c->dst.base;
}
