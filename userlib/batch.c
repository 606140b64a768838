// SPDX-License-Identifier: Apache-2.0
/*
 * Batches of copies. The order within a batch is nobody's promise, so each is a copy of its own in
 * the stream's order.
 */
#include "arena.h"
#include "boxes.h"
#include "cuda_calls.h"

/*
 * What every batch is judged by first. The default stream may not be the legacy one. *fail_index
 * may be NULL, and is `unused` then; as long as it is not one copy's fault it says so.
 */
static CUresult enter_batch(struct thread **t, CUstream stream, uint64_t *name, size_t **fail_index,
                            size_t *unused) {
    uint64_t context;
    CUresult r = guest_enter_about(t, VCUDA_KIND_STREAM, stream);

    if (!*fail_index)
        *fail_index = unused;
    **fail_index = SIZE_MAX;
    if (r != CUDA_SUCCESS)
        return r;
    if (!stream || stream == CU_STREAM_LEGACY)
        return CUDA_ERROR_INVALID_VALUE;
    return stream_resolve(*t, stream, name, &context);
}

static bool good_order(CUmemcpySrcAccessOrder order, unsigned int flags) {
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY &&
           !(flags & ~CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE);
}

/* The source may change as soon as the call has returned: only pinned memory is read later. */
static bool must_wait(CUmemcpySrcAccessOrder order, CUdeviceptr src) {
    return order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL && arena_holds((const void *)src, 1);
}

/* Each set of attributes begins behind the one before it, the first with the first copy. */
static bool good_attributes(const CUmemcpyAttributes *attrs, const size_t *firsts, size_t count,
                            size_t copies) {
    for (size_t i = 0; i < count; i++) {
        if (firsts[i] >= copies || (i ? firsts[i] <= firsts[i - 1] : firsts[i] != 0) ||
            !good_order(attrs[i].srcAccessOrder, attrs[i].flags))
            return false;
    }
    return count != 0;
}

VCUDA_EXPORT CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                                         size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
                                         size_t numAttrs, size_t *failIdx, CUstream hStream) {
    size_t set = 0, unused;
    bool wait = false;
    uint64_t name;
    struct thread *t;
    CUresult r = enter_batch(&t, hStream, &name, &failIdx, &unused);

    if (r != CUDA_SUCCESS)
        return r;
    if (!count || !dsts || !srcs || !sizes || !attrs || !attrsIdxs || numAttrs > count ||
        !good_attributes(attrs, attrsIdxs, numAttrs, count))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++) {
        if (set + 1 < numAttrs && attrsIdxs[set + 1] == i)
            set++;
        *failIdx = i;
        r = sizes[i] ? cuMemcpyAsync(dsts[i], srcs[i], sizes[i], hStream)
                     : CUDA_ERROR_INVALID_VALUE;
        wait = wait || must_wait(attrs[set].srcAccessOrder, srcs[i]);
    }
    if (r == CUDA_SUCCESS)
        *failIdx = SIZE_MAX;
    return r == CUDA_SUCCESS && wait ? cuStreamSynchronize(hStream) : r;
}

VCUDA_EXPORT CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                                            size_t count, CUmemcpyAttributes *attrs,
                                            size_t *attrsIdxs, size_t numAttrs, CUstream hStream) {
    return cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, NULL, hStream);
}

/* Bytes of an element of an array; 0: a format whose elements are not of bytes. */
static size_t element_bytes(const CUDA_ARRAY3D_DESCRIPTOR *d) {
    switch (d->Format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return d->NumChannels;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2 * (size_t)d->NumChannels;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4 * (size_t)d->NumChannels;
    case CU_AD_FORMAT_UNORM_INT8X1:
    case CU_AD_FORMAT_SNORM_INT8X1:
        return 1;
    case CU_AD_FORMAT_UNORM_INT8X2:
    case CU_AD_FORMAT_SNORM_INT8X2:
    case CU_AD_FORMAT_UNORM_INT16X1:
    case CU_AD_FORMAT_SNORM_INT16X1:
        return 2;
    case CU_AD_FORMAT_UNORM_INT8X4:
    case CU_AD_FORMAT_SNORM_INT8X4:
    case CU_AD_FORMAT_UNORM_INT16X2:
    case CU_AD_FORMAT_SNORM_INT16X2:
        return 4;
    case CU_AD_FORMAT_UNORM_INT16X4:
    case CU_AD_FORMAT_SNORM_INT16X4:
        return 8;
    default:
        return 0;
    }
}

/* Makes *element the size of the operand's elements, if it is an array. */
static CUresult look_at(const CUmemcpy3DOperand *o, size_t *element) {
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUresult r;

    if (o->type == CU_MEMCPY_OPERAND_TYPE_POINTER)
        return CUDA_SUCCESS;
    if (o->type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    r = cuArray3DGetDescriptor_v2(&d, o->op.array.array);
    if (r != CUDA_SUCCESS)
        return r;
    if (!element_bytes(&d))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (*element != 1 && *element != element_bytes(&d))
        return CUDA_ERROR_INVALID_VALUE;
    *element = element_bytes(&d);
    return CUDA_SUCCESS;
}

static CUresult place_of(struct vcuda_place *p, const CUmemcpy3DOperand *o, const CUextent3D *e,
                         size_t element) {
    if (o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        *p = (struct vcuda_place){
            .base = (uint64_t)o->op.array.array,
            .x = o->op.array.offset.x * element,
            .y = o->op.array.offset.y,
            .z = o->op.array.offset.z,
            .type = CU_MEMORYTYPE_ARRAY,
        };
        return CUDA_SUCCESS;
    }
    if ((o->op.ptr.rowLength && o->op.ptr.rowLength < e->width) ||
        (o->op.ptr.layerHeight && o->op.ptr.layerHeight < e->height))
        return CUDA_ERROR_INVALID_VALUE;
    *p = (struct vcuda_place){
        .base = o->op.ptr.ptr,
        .pitch = o->op.ptr.rowLength * element,
        .height = o->op.ptr.layerHeight,
        .type = CU_MEMORYTYPE_UNIFIED,
    };
    return CUDA_SUCCESS;
}

static CUresult one_of_batch(struct thread *t, const CUDA_MEMCPY3D_BATCH_OP *op, uint64_t stream) {
    struct vcuda_copy3d c = {.form = VCUDA_FORM_3D};
    size_t element = 1;
    CUresult r;

    if (!op->extent.width || !op->extent.height || !op->extent.depth ||
        !good_order(op->srcAccessOrder, op->flags))
        return CUDA_ERROR_INVALID_VALUE;
    r = look_at(&op->src, &element);
    if (r == CUDA_SUCCESS)
        r = look_at(&op->dst, &element);
    if (r == CUDA_SUCCESS)
        r = place_of(&c.src, &op->src, &op->extent, element);
    if (r == CUDA_SUCCESS)
        r = place_of(&c.dst, &op->dst, &op->extent, element);
    if (r != CUDA_SUCCESS)
        return r;
    c.width = op->extent.width * element;
    c.rows = op->extent.height;
    c.slices = op->extent.depth;
    return copy3d_run(t, &c, stream,
                      op->src.type == CU_MEMCPY_OPERAND_TYPE_POINTER &&
                          must_wait(op->srcAccessOrder, op->src.op.ptr.ptr));
}

VCUDA_EXPORT CUresult cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList,
                                           size_t *failIdx, unsigned long long flags,
                                           CUstream hStream) {
    size_t unused;
    uint64_t name;
    struct thread *t;
    CUresult r = enter_batch(&t, hStream, &name, &failIdx, &unused);

    if (r != CUDA_SUCCESS)
        return r;
    if (!numOps || !opList || flags)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numOps && r == CUDA_SUCCESS; i++) {
        r = one_of_batch(t, &opList[i], name);
        if (r != CUDA_SUCCESS)
            *failIdx = i;
    }
    return r;
}

VCUDA_EXPORT CUresult cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList,
                                              unsigned long long flags, CUstream hStream) {
    return cuMemcpy3DBatchAsync(numOps, opList, NULL, flags, hStream);
}
