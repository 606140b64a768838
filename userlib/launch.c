// SPDX-License-Identifier: Apache-2.0
/* Launches: checked here as the driver checks them at once, then posted. */
#include <stdlib.h>
#include <string.h>

#include "ahead.h"
#include "barrier.h"
#include "calls.h"
#include "capture.h"
#include "code.h"
#include "counters.h"
#include "cuda_calls.h"
#include "environment.h"
#include "launch.h"
#include "launch_attributes.h"
#include "rpc.h"
#include "submit.h"
#include "wire.h"

/* Whether it is from 1 to `max`. */
static bool within(unsigned int n, uint32_t max) {
    return n - 1 < max;
}

/* The configuration's own errors, which native tells at once. */
static CUresult check_shape(const struct context *c, const struct function *f,
                            const struct launch *l) {
    const unsigned int *g = l->grid, *b = l->block;

    if (unlikely(!within(g[0], c->grid_max[0]) || !within(g[1], c->grid_max[1]) ||
                 !within(g[2], c->grid_max[2]) || !within(b[0], c->block_max[0]) ||
                 !within(b[1], c->block_max[1]) || !within(b[2], c->block_max[2])))
        return CUDA_ERROR_INVALID_VALUE;
    /* Each is within its bound: no GPU's bounds make 2^32. */
    return b[0] * b[1] * b[2] > f->max_threads ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* More than we know to be allowed may have been allowed since, by cuKernelSetAttribute. */
static SELDOM CUresult ask_shared(struct thread *t, struct function *f, unsigned int shared) {
    int limit = 0;
    CUresult r = wire_cuFuncGetAttribute(t, &limit, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                         f->name);

    if (r != CUDA_SUCCESS)
        return r;
    vcuda_store_once(&f->max_dynamic_shared, (uint32_t)limit);
    return shared > (unsigned int)limit ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* The errors of a shape that native tells at once. */
static CUresult check(struct thread *t, struct function *f, const struct launch *l) {
    CUresult r = check_shape(t->now, f, l);

    if (unlikely(r != CUDA_SUCCESS))
        return r;
    return likely(l->shared <= vcuda_load_once(&f->max_dynamic_shared))
               ? CUDA_SUCCESS
               : ask_shared(t, f, l->shared);
}

static void hash(uint64_t *h, const void *data, size_t bytes) {
    const uint8_t *d = data;

    for (size_t i = 0; i < bytes; i++)
        *h = (*h ^ d[i]) * 0x100000001b3u;
}

/* Of a launch's shape and attributes; never 0. */
static uint64_t shape_of(const struct launch *l) {
    uint64_t shape = 0xcbf29ce484222325u;

    hash(&shape, l->grid, sizeof(l->grid));
    hash(&shape, l->block, sizeof(l->block));
    hash(&shape, &l->shared, sizeof(l->shared));
    for (uint32_t i = 0; i < l->attribute_count; i++) {
        const struct vcuda_launch_attribute *a = &l->attributes[i];

        hash(&shape, &a->id, sizeof(a->id));
        if (cuda_launch_attribute_travels((CUlaunchAttributeID)a->id))
            hash(&shape, a->value, sizeof(a->value));
    }
    return shape | 1;
}

/* The last bit is always set. */
static uint32_t place_of(uint64_t shape) {
    return shape >> 1 & (FUNCTION_SHAPES - 1);
}

/* What stands behind the header of a launch's record; its attributes and parameters follow. */
struct launch_body {
    uint64_t function, grid[3], block[3], shared, stream, attributes_len, params_len;
};

static uint32_t body_bytes(const struct function *f, const struct launch *l) {
    return (uint32_t)(sizeof(struct launch_body) + l->attribute_count * sizeof(l->attributes[0]) +
                      VCUDA_PAD8(f->layout.bytes));
}

/*
 * The commonest record of all is put together here, in the ring itself: nothing of it is in memory
 * twice, nor are fourteen arguments passed on. A parameter that is missing is found on the way.
 */
static CUresult put_body(struct launch_body *to, const struct function *f, const struct launch *l,
                         uint64_t stream, void **kernel_params, void **extra) {
    uint32_t attributes_len = l->attribute_count * (uint32_t)sizeof(l->attributes[0]);

    to->function = f->name;
    to->grid[0] = l->grid[0], to->grid[1] = l->grid[1], to->grid[2] = l->grid[2];
    to->block[0] = l->block[0], to->block[1] = l->block[1], to->block[2] = l->block[2];
    to->shared = l->shared;
    to->stream = stream;
    to->attributes_len = attributes_len;
    to->params_len = f->layout.bytes;
    if (attributes_len)
        memcpy(to + 1, l->attributes, attributes_len);
    return params_put(&f->layout, kernel_params, extra, (uint8_t *)(to + 1) + attributes_len);
}

static CUresult post(struct thread *t, const struct function *f, const struct launch *l,
                     uint64_t stream, void **kernel_params, void **extra) {
    uint32_t len = VCUDA_PAD_LINE((uint32_t)sizeof(struct vcuda_rec) + body_bytes(f, l));
    uint32_t fault = vcuda_load_once(&t->now->sticky);
    struct vcuda_rec *rec;
    CUresult r;

    if (unlikely(fault))
        return (CUresult)fault;
    rec = submit_reserve(len);
    if (unlikely(!rec))
        return VCUDA_ERROR_LOST;
    rec->len = len;
    rec->call = VCUDA_CALL_launch;
    rec->flags = 0;
    rec->tag = 0;
    rec->ctx = t->context;
    rec->status = t->number;
    rec->deferred = 0;
    r = put_body((struct launch_body *)(rec + 1), f, l, stream, kernel_params, extra);
    if (unlikely(r != CUDA_SUCCESS)) {
        submit_drop();
        return r;
    }
    submit_publish(rec, len, &counters.posted[VCUDA_CALL_launch]);
    return ahead_posted(t, stream);
}

/* Where the driver's answer is wanted. */
static CUresult send_and_wait(struct thread *t, const struct function *f, const struct launch *l,
                              uint64_t stream, void **kernel_params, void **extra) {
    uint32_t bytes = body_bytes(f, l);
    void *body = malloc(bytes);
    struct rpc rpc;
    CUresult r;

    if (!body)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = put_body(body, f, l, stream, kernel_params, extra);
    if (r == CUDA_SUCCESS)
        r = rpc_begin_in(&rpc, t, t->now, VCUDA_CALL_launch, false);
    if (r == CUDA_SUCCESS) {
        rpc_blob(&rpc, body, bytes);
        r = rpc_wait(&rpc, 0);
    }
    free(body);
    return r;
}

/*
 * A function's first launch loads it. The driver must look at a launch with attributes or clusters
 * before we go on: what it says of them it says at once, and nobody here knows all its rules. A
 * shape that it took once it takes again.
 */
static SELDOM CUresult send_special(struct thread *t, struct function *f, struct launch l,
                                    uint64_t stream, void **kernel_params, void **extra) {
    uint64_t shape = shape_of(&l), *known = &f->shapes[place_of(shape)];
    bool plain = !l.attribute_count && !(vcuda_load_once(&f->state) & FUNCTION_CLUSTERS);
    CUresult r = function_load(t, f);

    if (r != CUDA_SUCCESS)
        return r;
    if (!capture_any() && (plain || vcuda_load_once(known) == shape))
        return post(t, f, &l, stream, kernel_params, extra);
    r = send_and_wait(t, f, &l, stream, kernel_params, extra);
    if (r == CUDA_SUCCESS && !plain)
        vcuda_store_once(known, shape);
    return r;
}

static CUresult send(struct thread *t, struct function *f, const struct launch *l, uint64_t stream,
                     void **kernel_params, void **extra) {
    if (likely(vcuda_load_once(&f->state) == FUNCTION_LOADED && !l->attribute_count &&
               !capture_any()))
        return post(t, f, l, stream, kernel_params, extra);
    return send_special(t, f, *l, stream, kernel_params, extra);
}

/* A launch that native finds wrong at once spoils the capture that it would have been part of. */
static SELDOM CUresult spoil_capture(struct thread *t, uint64_t stream, CUresult why) {
    if (capture_graph(t, stream))
        wire_capture_invalidate(t, stream);
    return why;
}

/* Waits for a stream, unless it is being captured. */
static SELDOM CUresult wait_for(CUstream stream) {
    CUstreamCaptureStatus status;
    CUresult r = cuStreamIsCapturing(stream, &status);

    if (r == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE)
        return CUDA_SUCCESS;
    return cuStreamSynchronize(stream);
}

CUresult launch_make(const struct launch *l, CUfunction function, void **kernel_params,
                     void **extra) {
    struct function *f;
    struct thread *t;
    uint64_t stream, context;
    CUresult r = guest_enter_about(&t, VCUDA_KIND_STREAM, l->stream);

    if (unlikely(r != CUDA_SUCCESS))
        return r;
    if (unlikely(extra && kernel_params))
        return CUDA_ERROR_INVALID_VALUE;
    r = stream_resolve(t, l->stream, &stream, &context);
    if (unlikely(r != CUDA_SUCCESS))
        return r;
    r = function_resolve(t, function, &f);
    if (unlikely(r != CUDA_SUCCESS))
        return r;
    r = check(t, f, l);
    if (unlikely(r != CUDA_SUCCESS))
        return spoil_capture(t, stream, r);
    r = send(t, f, l, stream, kernel_params, extra);
    if (unlikely(environment_launch_blocking) && r == CUDA_SUCCESS)
        return wait_for(l->stream);
    return r;
}

/* The one that is called most: all that it does stands in its own body. */
__attribute__((flatten)) VCUDA_EXPORT CUresult
cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
               unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
               unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra) {
    struct launch l;

    l.grid[0] = gridDimX, l.grid[1] = gridDimY, l.grid[2] = gridDimZ;
    l.block[0] = blockDimX, l.block[1] = blockDimY, l.block[2] = blockDimZ;
    l.shared = sharedMemBytes;
    l.stream = hStream;
    l.attributes = NULL;
    l.attribute_count = 0;
    return launch_make(&l, f, kernelParams, extra);
}
