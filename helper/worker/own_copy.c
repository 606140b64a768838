// SPDX-License-Identifier: Apache-2.0
/* Copies and fills. Host addresses are the arena's, checked before the driver sees them. */
#include "addresses.h"
#include "worker.h"

/* Whether both sides are the guest's: host memory that it gave us, memory of the driver's. */
static bool sides_ok(struct worker *w, uint32_t direction, uint64_t dst, uint64_t src,
                     uint64_t bytes) {
    switch (direction) {
    case VCUDA_COPY_HTOD:
        return regions_hold(w, src, bytes) && addresses_ok(w, dst, bytes);
    case VCUDA_COPY_DTOH:
        return regions_hold(w, dst, bytes) && addresses_ok(w, src, bytes);
    default:
        return direction == VCUDA_COPY_DTOD && addresses_ok(w, dst, bytes) &&
               addresses_ok(w, src, bytes);
    }
}

static CUresult enqueue(struct worker *w, uint32_t direction, uint64_t dst, uint64_t src,
                        uint64_t bytes, CUstream stream) {
    if (!sides_ok(w, direction, dst, src, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (direction == VCUDA_COPY_DTOD)
        return w->driver.cuMemcpyDtoDAsync_v2(dst, src, bytes, stream);
    vcuda_stats_add(&w->stats->bytes_zero_copy, bytes);
    if (direction == VCUDA_COPY_HTOD)
        return w->driver.cuMemcpyHtoDAsync_v2(dst, (const void *)src, bytes, stream);
    return w->driver.cuMemcpyDtoHAsync_v2((void *)dst, src, bytes, stream);
}

CUresult own_copy_async(struct worker *w, struct frame *f, struct args_copy_async *a) {
    (void)f;
    return enqueue(w, a->direction, a->dst, a->src, a->bytes, a->stream);
}

CUresult own_copy_done(struct worker *w, struct frame *f, struct args_copy_done *a) {
    CUresult r = capture_refuses(w, a->stream);

    if (r == CUDA_SUCCESS)
        r = enqueue(w, a->direction, a->dst, a->src, a->bytes, a->stream);
    return r == CUDA_SUCCESS ? pending_stream(w, f, a->stream, a->stream_name, true) : r;
}

/* The record is ordinary memory: the driver has taken the data when it returns. */
CUresult own_copy_inline(struct worker *w, struct frame *f, struct args_copy_inline *a) {
    (void)f;
    if (!addresses_ok(w, a->dst, a->data_len))
        return CUDA_ERROR_INVALID_VALUE;
    vcuda_stats_add(&w->stats->bytes_inline, a->data_len);
    return w->driver.cuMemcpyHtoDAsync_v2(a->dst, a->data, a->data_len, a->stream);
}

CUresult own_fill(struct worker *w, struct frame *f, struct args_fill *a) {
    uint64_t bytes;

    (void)f;
    if (__builtin_mul_overflow(a->count, a->width, &bytes) || !addresses_ok(w, a->dst, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    switch (a->width) {
    case 1:
        return w->driver.cuMemsetD8Async(a->dst, (unsigned char)a->value, a->count, a->stream);
    case 2:
        return w->driver.cuMemsetD16Async(a->dst, (unsigned short)a->value, a->count, a->stream);
    case 4:
        return w->driver.cuMemsetD32Async(a->dst, a->value, a->count, a->stream);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}
