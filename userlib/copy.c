// SPDX-License-Identifier: Apache-2.0
/*
 * Copies and fills.
 *
 * Pinned memory lies in the arena: the worker gives its address to the driver, nothing is copied on
 * the way. Other host memory is copied once, by us: small pieces into the record, larger ones
 * through staging areas, so that our copy of one piece and the GPU's of another overlap.
 */
#include <string.h>

#include "arena.h"
#include "boxes.h"
#include "capture.h"
#include "calls.h"
#include "counters.h"
#include "crew.h"
#include "cuda_calls.h"
#include "graph_host.h"
#include "guest.h"
#include "info.h"
#include "ranges.h"
#include "rpc.h"
#include "stage.h"
#include "whose.h"
#include "wire.h"

/* One copy of the program, as the calls below describe it. */
struct copy {
    struct thread *t;
    uint32_t direction;
    uint64_t dst, src;
    size_t bytes;
    uint64_t stream; /* name */
    bool wait;       /* the call returns when the data is there */
};

/* ... as staging sees it. */
struct staged {
    struct stage_job job;
    struct copy *copy;
};

static CUresult send_piece(struct stage_job *job, struct stage_piece *p) {
    const struct copy *c = ((struct staged *)job)->copy;
    bool up = c->direction == VCUDA_COPY_HTOD;
    CUresult r = rpc_begin(&p->rpc, c->t, VCUDA_CALL_copy_done, false);

    if (r != CUDA_SUCCESS)
        return r;
    rpc_slot(&p->rpc, c->direction);
    rpc_slot(&p->rpc, up ? c->dst + p->x : (uint64_t)p->stage);
    rpc_slot(&p->rpc, up ? (uint64_t)p->stage : c->src + p->x);
    rpc_slot(&p->rpc, p->width);
    rpc_slot(&p->rpc, c->stream);
    if (up)
        crew_copy_out(p->stage, (const char *)c->src + p->x, p->width);
    return rpc_send(&p->rpc, p->only);
}

static void land_piece(struct stage_job *job, struct stage_piece *p) {
    crew_copy((char *)((struct staged *)job)->copy->dst + p->x, p->stage, p->width);
}

static CUresult copy_staged(struct copy *c) {
    struct staged s = {{.width = c->bytes, .rows = 1, .slices = 1, .send = send_piece}, c};

    if (c->direction == VCUDA_COPY_DTOH)
        s.job.land = land_piece;
    return stage_run(&s.job);
}

/* The graph's node will read or write the memory when it runs. */
static CUresult copy_captured(struct copy *c, uint64_t graph) {
    bool up = c->direction == VCUDA_COPY_HTOD;
    struct vcuda_copy3d box = {
        .dst = {.base = c->dst, .type = up ? VCUDA_PLACE_DEVICE : VCUDA_PLACE_HOST},
        .src = {.base = c->src, .type = up ? VCUDA_PLACE_HOST : VCUDA_PLACE_DEVICE},
        .width = c->bytes,
        .rows = 1,
        .slices = 1,
        .form = VCUDA_FORM_3D,
    };
    struct graph_held held;
    CUresult r = graph_host_capture(c->t, graph, &box, &held);

    if (r != CUDA_SUCCESS)
        return r;
    r = wire_copy_async(c->t, false, c->direction, box.dst.base, box.src.base, c->bytes, c->stream);
    return graph_host_captured(c->t, graph, c->stream, &held, r);
}

static CUresult copy_with_host(struct copy *c) {
    bool up = c->direction == VCUDA_COPY_HTOD;
    uint64_t device = up ? c->dst : c->src;
    const void *host = (const void *)(up ? c->src : c->dst);
    /* An address that is not known to be good must be judged by the driver, at once. */
    bool good = ranges_cover(device, c->bytes), post = !c->wait && good;
    uint64_t graph;

    if (whose_known_device((uint64_t)host) || /* cannot be read here */
        (!good && arena_overrun((const void *)device, c->bytes)))
        return CUDA_ERROR_INVALID_VALUE;
    if (arena_holds(host, c->bytes)) {
        COUNT(bytes_moved_pinned, c->bytes);
        if (c->wait)
            return wire_copy_done(c->t, c->direction, c->dst, c->src, c->bytes, c->stream);
        return wire_copy_async(c->t, post, c->direction, c->dst, c->src, c->bytes, c->stream);
    }
    if (arena_overrun(host, c->bytes))
        return CUDA_ERROR_INVALID_VALUE;
    COUNT(bytes_moved_pageable, c->bytes);
    if (!c->wait && (graph = capture_graph(c->t, c->stream)))
        return copy_captured(c, graph);
    if (up && c->bytes <= VCUDA_INLINE_MAX) {
        COUNT(bytes_inline, c->bytes);
        return wire_copy_inline(c->t, post, c->dst, c->stream, host, (uint32_t)c->bytes);
    }
    if (!good && stage_splits(c->bytes)) {
        CUresult r = stage_fits(c->t, device, c->bytes);

        if (r != CUDA_SUCCESS)
            return r;
    }
    return copy_staged(c);
}

/* The driver knows the arena's whole regions only: it lets a call go from a block into the next. */
static bool overruns(uint64_t address, size_t bytes) {
    return !ranges_cover(address, bytes) && arena_overrun((const void *)address, bytes);
}

/* Memory of the program's, where the call may mean a device's. */
static bool in_arena(uint64_t address, size_t bytes) {
    return !ranges_cover(address, bytes) && arena_holds((const void *)address, bytes);
}

/* Not even the synchronous form waits within the device; but for what the program sees. */
static CUresult copy_on_device(struct copy *c) {
    bool post = ranges_cover(c->dst, c->bytes) && ranges_cover(c->src, c->bytes);

    if (!post && (overruns(c->dst, c->bytes) || overruns(c->src, c->bytes)))
        return CUDA_ERROR_INVALID_VALUE;
    if (c->wait && !post && (in_arena(c->dst, c->bytes) || in_arena(c->src, c->bytes)))
        return wire_copy_done(c->t, c->direction, c->dst, c->src, c->bytes, c->stream);
    return wire_copy_async(c->t, post, c->direction, c->dst, c->src, c->bytes, c->stream);
}

/* Neither side is a device's, whatever the call's name says. */
static bool is_within_host(const struct copy *c) {
    switch (c->direction) {
    case VCUDA_COPY_HTOD:
        return in_arena(c->dst, c->bytes) && !whose_known_device(c->src);
    case VCUDA_COPY_DTOH:
        return in_arena(c->src, c->bytes) && !whose_known_device(c->dst);
    case VCUDA_COPY_DTOD:
        return in_arena(c->dst, c->bytes) && in_arena(c->src, c->bytes);
    default:
        return true;
    }
}

static bool is_captured(const struct copy *c) {
    return !c->wait && capture_graph(c->t, c->stream);
}

/* A captured copy within the host, as one of what the driver takes for a device's memory. */
static uint32_t captured_direction(const struct copy *c) {
    if (in_arena(c->dst, c->bytes))
        return in_arena(c->src, c->bytes) ? VCUDA_COPY_DTOD : VCUDA_COPY_HTOD;
    return in_arena(c->src, c->bytes) ? VCUDA_COPY_DTOH : 0;
}

/* Neither side is reached by the GPU. */
static CUresult copy_captured_on_host(const struct copy *c) {
    struct vcuda_copy3d box = {
        .dst = {.base = c->dst, .type = CU_MEMORYTYPE_HOST},
        .src = {.base = c->src, .type = CU_MEMORYTYPE_HOST},
        .width = c->bytes,
        .rows = 1,
        .slices = 1,
        .form = VCUDA_FORM_3D,
    };

    return copy3d_run(c->t, &box, c->stream, false);
}

/* Not by the driver, which makes its caller wait for such a copy: that would be the worker. */
static CUresult copy_on_host(struct copy *c) {
    CUresult r;

    if (overruns(c->dst, c->bytes) || overruns(c->src, c->bytes))
        return CUDA_ERROR_INVALID_VALUE;
    r = wire_cuStreamSynchronize(c->t, c->stream);
    if (r == CUDA_SUCCESS)
        memmove((void *)c->dst, (const void *)c->src, c->bytes);
    return r;
}

/* By what the addresses are; 0: neither is a device's. */
static uint32_t direction_of(uint64_t dst, uint64_t src) {
    bool from = whose_device(src);

    if (whose_device(dst))
        return from ? VCUDA_COPY_DTOD : VCUDA_COPY_HTOD;
    return from ? VCUDA_COPY_DTOH : 0;
}

/* direction 0: by what the addresses are. */
static CUresult copy(uint32_t direction, uint64_t dst, uint64_t src, size_t bytes, CUstream stream,
                     bool wait) {
    struct copy c = {NULL, direction, dst, src, bytes, 0, wait};
    CUresult r = guest_enter_stream(&c.t, stream, &c.stream);

    if (r != CUDA_SUCCESS || !bytes)
        return r;
    if (!dst || !src)
        return CUDA_ERROR_INVALID_VALUE;
    if (!direction)
        c.direction = direction_of(dst, src);
    if (is_within_host(&c)) {
        if (!is_captured(&c))
            return copy_on_host(&c);
        if (!c.direction)
            c.direction = captured_direction(&c);
        if (!c.direction)
            return copy_captured_on_host(&c);
    }
    return c.direction == VCUDA_COPY_DTOD ? copy_on_device(&c) : copy_with_host(&c);
}

#define SYNC_COPY(name, direction, dst_type, src_type)                                             \
    VCUDA_EXPORT CUresult name(dst_type dst, src_type src, size_t bytes) {                         \
        return copy(direction, (uint64_t)dst, (uint64_t)src, bytes, NULL, true);                   \
    }                                                                                              \
    VCUDA_EXPORT CUresult name##_ptds(dst_type dst, src_type src, size_t bytes) {                  \
        return copy(direction, (uint64_t)dst, (uint64_t)src, bytes, CU_STREAM_PER_THREAD, true);   \
    }

SYNC_COPY(cuMemcpy, 0, CUdeviceptr, CUdeviceptr)
SYNC_COPY(cuMemcpyHtoD_v2, VCUDA_COPY_HTOD, CUdeviceptr, const void *)
SYNC_COPY(cuMemcpyDtoH_v2, VCUDA_COPY_DTOH, void *, CUdeviceptr)
SYNC_COPY(cuMemcpyDtoD_v2, VCUDA_COPY_DTOD, CUdeviceptr, CUdeviceptr)

#define ASYNC_COPY(name, direction, dst_type, src_type)                                            \
    VCUDA_EXPORT CUresult name(dst_type dst, src_type src, size_t bytes, CUstream stream) {        \
        return copy(direction, (uint64_t)dst, (uint64_t)src, bytes, stream, false);                \
    }

ASYNC_COPY(cuMemcpyAsync, 0, CUdeviceptr, CUdeviceptr)
ASYNC_COPY(cuMemcpyHtoDAsync_v2, VCUDA_COPY_HTOD, CUdeviceptr, const void *)
ASYNC_COPY(cuMemcpyDtoHAsync_v2, VCUDA_COPY_DTOH, void *, CUdeviceptr)
ASYNC_COPY(cuMemcpyDtoDAsync_v2, VCUDA_COPY_DTOD, CUdeviceptr, CUdeviceptr)

/*
 * width: bytes an element. The synchronous form does not wait for device memory, as native; but for
 * memory that the program sees.
 */
static inline __attribute__((always_inline)) CUresult
fill(uint64_t dst, uint32_t value, uint32_t width, size_t count, CUstream stream, bool wait) {
    uint64_t name;
    struct thread *t;
    bool good;
    CUresult r = guest_enter_stream(&t, stream, &name);

    if (r != CUDA_SUCCESS)
        return r;
    if (!count) /* seen natively: whatever the address is */
        return CUDA_SUCCESS;
    if (dst % width || count > SIZE_MAX / width)
        return CUDA_ERROR_INVALID_VALUE;
    good = ranges_cover(dst, count * width);
    if (!good && arena_overrun((const void *)dst, count * width))
        return CUDA_ERROR_INVALID_VALUE;
    r = wire_fill(t, good, dst, value, width, count, name);
    if (r == CUDA_SUCCESS && wait && arena_holds((const void *)dst, 1))
        r = wire_cuStreamSynchronize(t, name);
    return r;
}

#define FILL(name, async_name, type, width)                                                        \
    VCUDA_EXPORT CUresult name(CUdeviceptr dst, type value, size_t count) {                        \
        return fill(dst, value, width, count, NULL, true);                                         \
    }                                                                                              \
    VCUDA_EXPORT CUresult name##_ptds(CUdeviceptr dst, type value, size_t count) {                 \
        return fill(dst, value, width, count, CU_STREAM_PER_THREAD, true);                         \
    }                                                                                              \
    VCUDA_EXPORT CUresult async_name(CUdeviceptr dst, type value, size_t count, CUstream stream) { \
        return fill(dst, value, width, count, stream, false);                                      \
    }

FILL(cuMemsetD8_v2, cuMemsetD8Async, unsigned char, 1)
FILL(cuMemsetD16_v2, cuMemsetD16Async, unsigned short, 2)
FILL(cuMemsetD32_v2, cuMemsetD32Async, unsigned int, 4)
