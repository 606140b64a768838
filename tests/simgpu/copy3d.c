// SPDX-License-Identifier: Apache-2.0
/* Copies of rows and slices between host memory, device memory and arrays. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "copy.h"
#include "graph.h"

/* One side: where it begins, and how far rows and slices are from each other. */
struct side {
    uint64_t at;
    size_t pitch, slice; /* bytes */
    enum sim_place place;
    struct sim_array *array; /* a reference, or NULL */
};

struct extent {
    size_t width, rows, slices;
};

/* What the program's structures say of one side. */
struct wish {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z, pitch, height;
};

struct copy3d_op {
    struct sim_op op;
    struct extent extent;
    struct side dst, src;
    CUDA_MEMCPY3D asked; /* by whoever made a node of it */
};

static CUresult run_copy(struct sim_op *op, struct sim_context *context) {
    const struct copy3d_op *c = (struct copy3d_op *)op;

    (void)context;
    for (size_t z = 0; z < c->extent.slices; z++) {
        for (size_t y = 0; y < c->extent.rows; y++)
            memmove((void *)(c->dst.at + z * c->dst.slice + y * c->dst.pitch),
                    (void *)(c->src.at + z * c->src.slice + y * c->src.pitch), c->extent.width);
    }
    return CUDA_SUCCESS;
}

static void end_copy(struct sim_op *op) {
    struct copy3d_op *c = (struct copy3d_op *)op;

    sim_put(c->dst.array);
    sim_put(c->src.array);
    free(c);
}

static CUresult array_side(const struct wish *w, const struct extent *e, struct side *side) {
    CUresult result = sim_array_get(w->array, &side->array);
    const struct sim_array *a = side->array;

    if (result != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    if (w->x > a->pitch || e->width > a->pitch - w->x || w->y > a->rows ||
        e->rows > a->rows - w->y || w->z > a->slices || e->slices > a->slices - w->z)
        return CUDA_ERROR_INVALID_VALUE;
    side->pitch = a->pitch;
    side->slice = a->pitch * a->rows;
    side->at = a->addr + w->z * side->slice + w->y * side->pitch + w->x;
    side->place = SIM_DEVICE;
    return CUDA_SUCCESS;
}

/* Whether this sort of memory may be what the structure calls it: device memory passes for any. */
static bool place_fits(CUmemorytype type, enum sim_place place) {
    switch (type) {
    case CU_MEMORYTYPE_DEVICE:
        return sim_is_device(place);
    default:
        return place != SIM_BAD;
    }
}

static CUresult linear_side(const struct wish *w, const struct extent *e, struct side *side) {
    uint64_t base = w->type == CU_MEMORYTYPE_HOST ? (uintptr_t)w->host : w->device;
    size_t pitch = w->pitch ? w->pitch : w->x + e->width;
    size_t height = w->height ? w->height : w->y + e->rows;
    size_t before, span, slices;

    if (pitch < e->width || w->x > pitch - e->width || height < e->rows ||
        w->y > height - e->rows || __builtin_mul_overflow(pitch, height, &side->slice) ||
        __builtin_add_overflow(w->z, e->slices, &slices) ||
        __builtin_mul_overflow(side->slice, slices, &span))
        return CUDA_ERROR_INVALID_VALUE;
    before = w->z * side->slice + w->y * pitch + w->x;
    if (__builtin_add_overflow(base, before, &side->at))
        return CUDA_ERROR_INVALID_VALUE;
    span = (e->slices - 1) * side->slice + (e->rows - 1) * pitch + e->width;
    side->pitch = pitch;
    side->place = base ? sim_place_of(side->at, span) : SIM_BAD;
    return place_fits(w->type, side->place) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult make_side(const struct wish *w, const struct extent *e, struct side *side) {
    switch (w->type) {
    case CU_MEMORYTYPE_HOST:
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
        return linear_side(w, e, side);
    case CU_MEMORYTYPE_ARRAY:
        return array_side(w, e, side);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* A copy that is checked, not of nothing. */
static CUresult make_op(const struct wish *dst, const struct wish *src, struct extent extent,
                        struct copy3d_op **out) {
    struct copy3d_op *op = sim_op_new(sizeof(*op), run_copy);
    CUresult result;

    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->op.release = end_copy;
    op->op.kind = CU_GRAPH_NODE_TYPE_MEMCPY;
    op->extent = extent;
    result = make_side(dst, &extent, &op->dst);
    if (result == CUDA_SUCCESS)
        result = make_side(src, &extent, &op->src);
    if (result != CUDA_SUCCESS)
        sim_op_discard(&op->op);
    *out = op;
    return result;
}

static CUresult copy(const struct wish *dst, const struct wish *src, struct extent extent,
                     CUstream handle, bool async, bool per_thread) {
    SIM_AUTO struct sim_stream *stream = NULL;
    struct copy3d_op *op;
    bool inside;
    SIM_ENTER(context);
    CUresult result = sim_stream_get(context, handle, per_thread, &stream);

    if (result != CUDA_SUCCESS || !extent.width || !extent.rows || !extent.slices)
        return result;
    result = make_op(dst, src, extent, &op);
    if (result != CUDA_SUCCESS)
        return result;
    inside = op->dst.place == SIM_DEVICE && op->src.place == SIM_DEVICE;
    return (async ? sim_copy_waits(op->dst.place, op->src.place) : !inside)
               ? sim_submit_and_wait(stream, &op->op)
               : sim_submit_with_room(stream, &op->op);
}

#define WISH_2D(c, side)                                                                           \
    {                                                                                              \
        .type = (c)->side##MemoryType, .host = (c)->side##Host, .device = (c)->side##Device,       \
        .array = (c)->side##Array, .x = (c)->side##XInBytes, .y = (c)->side##Y,                    \
        .pitch = (c)->side##Pitch                                                                  \
    }

#define WISH_3D(c, side)                                                                           \
    {                                                                                              \
        .type = (c)->side##MemoryType, .host = (c)->side##Host, .device = (c)->side##Device,       \
        .array = (c)->side##Array, .x = (c)->side##XInBytes, .y = (c)->side##Y, .z = (c)->side##Z, \
        .pitch = (c)->side##Pitch, .height = (c)->side##Height                                     \
    }

static CUresult copy_2d(const CUDA_MEMCPY2D *c, CUstream stream, bool async, bool per_thread) {
    if (!c)
        return CUDA_ERROR_INVALID_VALUE;
    return copy(&(struct wish)WISH_2D(c, dst), &(struct wish)WISH_2D(c, src),
                (struct extent){c->WidthInBytes, c->Height, 1}, stream, async, per_thread);
}

static CUresult copy_3d(const CUDA_MEMCPY3D *c, CUstream stream, bool async, bool per_thread) {
    if (!c)
        return CUDA_ERROR_INVALID_VALUE;
    /* A level of a mipmapped array is an array by itself: as natively, nobody looks at the LODs. */
    return copy(&(struct wish)WISH_3D(c, dst), &(struct wish)WISH_3D(c, src),
                (struct extent){c->WidthInBytes, c->Height, c->Depth}, stream, async, per_thread);
}

static void tell(const struct sim_op *op, CUgraphNodeParams *params) {
    params->memcpy.copyParams = ((const struct copy3d_op *)op)->asked;
}

CUresult sim_copy3d_op(const CUDA_MEMCPY3D *c, struct sim_op **op) {
    struct extent extent = {c->WidthInBytes, c->Height, c->Depth};
    struct copy3d_op *copy;
    CUresult result;

    if (!extent.width || !extent.rows || !extent.slices)
        return CUDA_ERROR_INVALID_VALUE;
    result = make_op(&(struct wish)WISH_3D(c, dst), &(struct wish)WISH_3D(c, src), extent, &copy);
    if (result != CUDA_SUCCESS)
        return result;
    copy->asked = *c;
    copy->op.tell = tell;
    *op = &copy->op;
    return CUDA_SUCCESS;
}

/* All contexts share one address space: each place is found by its address. */
static CUresult copy_peer(const CUDA_MEMCPY3D_PEER *c, CUstream stream, bool async,
                          bool per_thread) {
    SIM_AUTO struct sim_context *from = NULL, *to = NULL;
    CUresult result;

    if (!c)
        return CUDA_ERROR_INVALID_VALUE;
    result = sim_enter_context(c->srcContext, &from);
    if (result == CUDA_SUCCESS)
        result = sim_enter_context(c->dstContext, &to);
    if (result == CUDA_SUCCESS && !async)
        result = sim_peer_order(from, to, per_thread, false);
    if (result == CUDA_SUCCESS)
        result =
            copy(&(struct wish)WISH_3D(c, dst), &(struct wish)WISH_3D(c, src),
                 (struct extent){c->WidthInBytes, c->Height, c->Depth}, stream, async, per_thread);
    if (result == CUDA_SUCCESS && !async)
        result = sim_peer_order(from, to, per_thread, true);
    return result;
}

#define SYNC(name, copy, type)                                                                     \
    CUresult name(const type *pCopy) {                                                             \
        return copy(pCopy, NULL, false, false);                                                    \
    }                                                                                              \
    CUresult name##_ptds(const type *pCopy) {                                                      \
        return copy(pCopy, NULL, false, true);                                                     \
    }

#define ASYNC(name, copy, type)                                                                    \
    CUresult name(const type *pCopy, CUstream hStream) {                                           \
        return copy(pCopy, hStream, true, false);                                                  \
    }                                                                                              \
    CUresult name##_ptsz(const type *pCopy, CUstream hStream) {                                    \
        return copy(pCopy, hStream, true, true);                                                   \
    }

SYNC(cuMemcpy2D_v2, copy_2d, CUDA_MEMCPY2D)
SYNC(cuMemcpy2DUnaligned_v2, copy_2d, CUDA_MEMCPY2D)
SYNC(cuMemcpy3D_v2, copy_3d, CUDA_MEMCPY3D)
SYNC(cuMemcpy3DPeer, copy_peer, CUDA_MEMCPY3D_PEER)
ASYNC(cuMemcpy2DAsync_v2, copy_2d, CUDA_MEMCPY2D)
ASYNC(cuMemcpy3DAsync_v2, copy_3d, CUDA_MEMCPY3D)
ASYNC(cuMemcpy3DPeerAsync, copy_peer, CUDA_MEMCPY3D_PEER)
