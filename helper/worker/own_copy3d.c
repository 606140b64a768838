// SPDX-License-Identifier: Apache-2.0
/*
 * Copies and fills of rows and slices. Host addresses are the arena's: the whole of what a copy
 * touches there is checked before the driver sees it.
 */
#include "addresses.h"
#include "copy3d.h"
#include "worker.h"

/* A place whose names have become the driver's handles. */
struct place {
    const struct vcuda_place *p;
    CUarray array;
    CUcontext context;
};

static CUresult resolve(struct worker *w, const struct vcuda_copy3d *c, const struct vcuda_place *p,
                        struct place *out) {
    __u64 first, bytes;

    *out = (struct place){.p = p};
    switch (p->type) {
    case VCUDA_PLACE_HOST:
        bytes = vcuda_place_span(c, p, &first);
        if (!bytes || !vcuda_place_apart(c, p) || !regions_hold(w, first, bytes))
            return CUDA_ERROR_INVALID_VALUE;
        vcuda_stats_add(&w->stats->bytes_zero_copy, c->width * c->rows * c->slices);
        break;
    case VCUDA_PLACE_ARRAY: {
        CUresult r = frame_object(w, VCUDA_KIND_ARRAY, p->base, (void **)&out->array);

        if (r != CUDA_SUCCESS)
            return r;
        break;
    }
    case VCUDA_PLACE_DEVICE:
        if (!addresses_place_ok(w, c, p))
            return CUDA_ERROR_INVALID_VALUE;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return frame_object_or_null(w, VCUDA_KIND_CONTEXT, p->context, (void **)&out->context);
}

/* The fields that all of the driver's structures have, for one side. */
#define SIDE(side, from)                                                                           \
    .side##XInBytes = (from).p->x, .side##Y = (from).p->y,                                         \
    .side##MemoryType = (CUmemorytype)(from).p->type, .side##Host = (void *)(from).p->base,        \
    .side##Device = (from).p->base, .side##Array = (from).array, .side##Pitch = (from).p->pitch

#define SIDE_3D(side, from)                                                                        \
    SIDE(side, from), .side##Z = (from).p->z, .side##LOD = (from).p->lod,                          \
                      .side##Height = (from).p->height

static CUresult copy_2d(struct worker *w, const struct vcuda_copy3d *c, const struct place *dst,
                        const struct place *src, CUstream stream) {
    CUDA_MEMCPY2D copy = {
        SIDE(src, *src),
        SIDE(dst, *dst),
        .WidthInBytes = c->width,
        .Height = c->rows,
    };

    return w->driver.cuMemcpy2DAsync_v2(&copy, stream);
}

static CUresult copy_3d(struct worker *w, const struct vcuda_copy3d *c, const struct place *dst,
                        const struct place *src, CUstream stream) {
    CUDA_MEMCPY3D copy = {
        SIDE_3D(src, *src), SIDE_3D(dst, *dst), .WidthInBytes = c->width,
        .Height = c->rows,  .Depth = c->slices,
    };

    return w->driver.cuMemcpy3DAsync_v2(&copy, stream);
}

static CUresult copy_peer(struct worker *w, const struct vcuda_copy3d *c, const struct place *dst,
                          const struct place *src, CUstream stream) {
    CUDA_MEMCPY3D_PEER copy = {
        SIDE_3D(src, *src),         SIDE_3D(dst, *dst),       .srcContext = src->context,
        .dstContext = dst->context, .WidthInBytes = c->width, .Height = c->rows,
        .Depth = c->slices,
    };

    return w->driver.cuMemcpy3DPeerAsync(&copy, stream);
}

static CUresult enqueue(struct worker *w, const void *record, uint32_t len, CUstream stream) {
    const struct vcuda_copy3d *c = record;
    struct place dst, src;
    CUresult r;

    if (len != sizeof(*c))
        return CUDA_ERROR_INVALID_VALUE;
    r = resolve(w, c, &c->dst, &dst);
    if (r == CUDA_SUCCESS)
        r = resolve(w, c, &c->src, &src);
    if (r != CUDA_SUCCESS)
        return r;
    switch (c->form) {
    case VCUDA_FORM_2D:
        return copy_2d(w, c, &dst, &src, stream);
    case VCUDA_FORM_3D:
        return copy_3d(w, c, &dst, &src, stream);
    case VCUDA_FORM_PEER:
        return copy_peer(w, c, &dst, &src, stream);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult own_cuMemcpyPeerAsync(struct worker *w, struct frame *f,
                               struct args_cuMemcpyPeerAsync *a) {
    (void)f;
    if (!addresses_ok(w, a->dstDevice, a->ByteCount) ||
        !addresses_ok(w, a->srcDevice, a->ByteCount))
        return CUDA_ERROR_INVALID_VALUE;
    return w->driver.cuMemcpyPeerAsync(a->dstDevice, a->dstContext, a->srcDevice, a->srcContext,
                                       a->ByteCount, a->hStream);
}

CUresult own_copy3d_async(struct worker *w, struct frame *f, struct args_copy3d_async *a) {
    (void)f;
    return enqueue(w, a->copy, a->copy_len, a->stream);
}

CUresult own_copy3d_done(struct worker *w, struct frame *f, struct args_copy3d_done *a) {
    CUresult r = capture_refuses(w, a->stream);

    if (r == CUDA_SUCCESS)
        r = enqueue(w, a->copy, a->copy_len, a->stream);
    return r == CUDA_SUCCESS ? pending_stream(w, f, a->stream, a->stream_name, true) : r;
}

CUresult own_fill2d(struct worker *w, struct frame *f, struct args_fill2d *a) {
    uint64_t width;

    (void)f;
    if (__builtin_mul_overflow(a->columns, a->width, &width))
        width = UINT64_MAX; /* what the driver makes of that is its affair */
    if (!addresses_rows_ok(w, a->dst, a->pitch, width, a->rows))
        return CUDA_ERROR_INVALID_VALUE;
    switch (a->width) {
    case 1:
        return w->driver.cuMemsetD2D8Async(a->dst, a->pitch, (unsigned char)a->value, a->columns,
                                           a->rows, a->stream);
    case 2:
        return w->driver.cuMemsetD2D16Async(a->dst, a->pitch, (unsigned short)a->value, a->columns,
                                            a->rows, a->stream);
    case 4:
        return w->driver.cuMemsetD2D32Async(a->dst, a->pitch, a->value, a->columns, a->rows,
                                            a->stream);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}
