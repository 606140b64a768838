// SPDX-License-Identifier: Apache-2.0
/* Launches: checked here as the driver checks them at once, then posted. */
#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "calls.h"
#include "capture.h"
#include "code.h"
#include "cuda_calls.h"
#include "environment.h"
#include "launch.h"
#include "launch_attributes.h"
#include "rpc.h"
#include "wire.h"

/* Whether it is from 1 to `max`. */
static bool within(unsigned int n, uint32_t max) {
    return n - 1 < max;
}

/* The configuration's own errors, which native tells at once. */
static CUresult check_shape(const struct context *c, const struct function *f,
                            const struct launch *l) {
    const unsigned int *g = l->grid, *b = l->block;

    if (!within(g[0], c->grid_max[0]) || !within(g[1], c->grid_max[1]) ||
        !within(g[2], c->grid_max[2]) || !within(b[0], c->block_max[0]) ||
        !within(b[1], c->block_max[1]) || !within(b[2], c->block_max[2]))
        return CUDA_ERROR_INVALID_VALUE;
    return (uint64_t)b[0] * b[1] * b[2] > f->max_threads ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* More than we know to be allowed may have been allowed since, by cuKernelSetAttribute. */
static CUresult check_shared(struct thread *t, struct function *f, unsigned int shared) {
    int limit = 0;
    CUresult r;

    if (shared <= vcuda_load_once(&f->max_dynamic_shared))
        return CUDA_SUCCESS;
    r = wire_cuFuncGetAttribute(t, &limit, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                f->name);
    if (r != CUDA_SUCCESS)
        return r;
    vcuda_store_once(&f->max_dynamic_shared, (uint32_t)limit);
    return shared > (unsigned int)limit ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* `extra`: one buffer that is laid out already. */
static CUresult gather_extra(const struct layout *l, void **extra, const void **params) {
    size_t size = 0;

    *params = NULL;
    for (; extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *params = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = *(size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (size && !*params)
        return CUDA_ERROR_INVALID_VALUE;
    return size == l->bytes ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

/* Most are pointers and numbers. */
static void copy_param(uint8_t *to, const void *from, uint32_t size) {
    if (size == 8)
        memcpy(to, from, 8);
    else if (size == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, size);
}

/* One pointer a parameter, into `buffer` as the kernel wants them. */
static CUresult gather(const struct layout *l, void **kernel_params, uint8_t *buffer) {
    uint32_t end = 0;

    for (uint32_t i = 0; i < l->params; i++) {
        uint32_t offset = l->param[i].offset;

        if (!kernel_params || !kernel_params[i])
            return CUDA_ERROR_INVALID_VALUE;
        if (offset > end)
            memset(buffer + end, 0, offset - end);
        copy_param(buffer + offset, kernel_params[i], l->param[i].size);
        end = offset + l->param[i].size;
    }
    return CUDA_SUCCESS;
}

CUresult launch_params(const struct layout *l, void **kernel_params, void **extra, void *buffer,
                       const void **params) {
    *params = buffer;
    return extra ? gather_extra(l, extra, params) : gather(l, kernel_params, buffer);
}

CUresult launch_check(struct thread *t, struct function *f, const struct launch *l) {
    CUresult r = check_shape(t->now, f, l);

    return r == CUDA_SUCCESS ? check_shared(t, f, l->shared) : r;
}

/*
 * Events of a launch travel as their names, in the place of the handle. A node that the device may
 * update is made by captured launches, whose answer would have to be waited for.
 */
static CUresult check_attribute(const CUlaunchAttribute *a) {
    switch (a->id) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        return guest_check(VCUDA_KIND_EVENT, a->value.programmaticEvent.event);
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return guest_check(VCUDA_KIND_EVENT, a->value.launchCompletionEvent.event);
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return a->value.deviceUpdatableKernelNode.deviceUpdatable ? CUDA_ERROR_NOT_SUPPORTED
                                                                  : CUDA_SUCCESS;
    default:
        return cuda_launch_attribute_travels(a->id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult launch_add_attribute(struct launch *l, const CUlaunchAttribute *a) {
    struct vcuda_launch_attribute *to = &l->attributes[l->attribute_count];
    CUresult r;

    if (a->id == CU_LAUNCH_ATTRIBUTE_IGNORE)
        return CUDA_SUCCESS;
    r = check_attribute(a);
    if (r != CUDA_SUCCESS)
        return r;
    if (l->attribute_count == VCUDA_LAUNCH_ATTRIBUTES_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    *to = (struct vcuda_launch_attribute){.id = a->id};
    memcpy(to->value, &a->value, sizeof(to->value));
    l->attribute_count++;
    return CUDA_SUCCESS;
}

CUresult launch_read_config(struct launch *l, struct vcuda_launch_attribute *room,
                            const CUlaunchConfig *config) {
    CUresult r = CUDA_SUCCESS;

    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    l->grid[0] = config->gridDimX, l->grid[1] = config->gridDimY, l->grid[2] = config->gridDimZ;
    l->block[0] = config->blockDimX, l->block[1] = config->blockDimY;
    l->block[2] = config->blockDimZ;
    l->shared = config->sharedMemBytes;
    l->stream = config->hStream;
    l->attributes = room;
    l->attribute_count = 0;
    for (unsigned int i = 0; i < config->numAttrs && r == CUDA_SUCCESS; i++)
        r = launch_add_attribute(l, &config->attrs[i]);
    return r;
}

static void hash(uint64_t *h, const void *data, size_t bytes) {
    const uint8_t *d = data;

    for (size_t i = 0; i < bytes; i++)
        *h = (*h ^ d[i]) * 0x100000001b3u;
}

/* Of a launch's shape and attributes; never 0. */
static __attribute__((noinline)) uint64_t shape_of(const struct launch *l) {
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

/*
 * Whether the driver must look at a launch before we go on: what it says of attributes and clusters
 * it says at once, and nobody here knows all its rules. A shape that it took once it takes again.
 */
static bool must_ask(const struct function *f, const struct launch *l, uint64_t *shape) {
    if (!l->attribute_count && !f->clusters)
        return false;
    *shape = shape_of(l);
    return vcuda_load_once(&f->shapes[place_of(*shape)]) != *shape;
}

static void remember(struct function *f, uint64_t shape) {
    vcuda_store_once(&f->shapes[place_of(shape)], shape);
}

/* The commonest record of all, put together here: fourteen arguments would be passed on. */
static CUresult send(struct thread *t, struct function *f, const struct launch *l, uint64_t stream,
                     const void *params) {
    uint32_t attributes_len = l->attribute_count * (uint32_t)sizeof(l->attributes[0]);
    uint64_t shape = 0;
    bool ask = must_ask(f, l, &shape);
    struct rpc rpc;
    CUresult r = rpc_begin_in(&rpc, t, t->now, VCUDA_CALL_launch, !ask);

    if (r != CUDA_SUCCESS)
        return r;
    rpc_slot(&rpc, f->name);
    rpc_slot(&rpc, l->grid[0]);
    rpc_slot(&rpc, l->grid[1]);
    rpc_slot(&rpc, l->grid[2]);
    rpc_slot(&rpc, l->block[0]);
    rpc_slot(&rpc, l->block[1]);
    rpc_slot(&rpc, l->block[2]);
    rpc_slot(&rpc, l->shared);
    rpc_slot(&rpc, stream);
    rpc_slot(&rpc, attributes_len);
    rpc_slot(&rpc, f->layout.bytes);
    if (attributes_len)
        rpc_blob(&rpc, l->attributes, attributes_len);
    rpc_blob(&rpc, params, f->layout.bytes);
    if (!ask)
        return rpc_post(&rpc);
    r = rpc_wait(&rpc, 0);
    if (r == CUDA_SUCCESS)
        remember(f, shape);
    return r;
}

/* A launch that native finds wrong at once spoils the capture that it would have been part of. */
static __attribute__((noinline)) CUresult spoil_capture(struct thread *t, uint64_t stream,
                                                        CUresult why) {
    if (capture_any() && capture_graph(t, stream))
        wire_capture_invalidate(t, stream);
    return why;
}

/* With the parameters laid out in `buffer`, where they are not yet. */
static CUresult lay_out_and_send(struct thread *t, struct function *f, const struct launch *l,
                                 uint64_t stream, void **kernel_params, void **extra,
                                 void *buffer) {
    const void *params;
    CUresult r = launch_params(&f->layout, kernel_params, extra, buffer, &params);

    return r == CUDA_SUCCESS ? send(t, f, l, stream, params) : r;
}

static __attribute__((noinline)) CUresult send_large(struct thread *t, struct function *f,
                                                     const struct launch *l, uint64_t stream,
                                                     void **kernel_params, void **extra) {
    void *buffer = malloc(f->layout.bytes);
    CUresult r;

    if (!buffer)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = lay_out_and_send(t, f, l, stream, kernel_params, extra, buffer);
    free(buffer);
    return r;
}

CUresult launch_make(const struct launch *l, CUfunction function, void **kernel_params,
                     void **extra) {
    struct function *f;
    struct thread *t;
    uint8_t small[1024];
    uint64_t stream, context;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (kernel_params && extra)
        return CUDA_ERROR_INVALID_VALUE;
    r = stream_resolve(t, l->stream, &stream, &context);
    if (r != CUDA_SUCCESS)
        return r;
    r = function_resolve(t, function, &f);
    if (r != CUDA_SUCCESS)
        return r;
    r = launch_check(t, f, l);
    if (r != CUDA_SUCCESS)
        return spoil_capture(t, stream, r);
    r = function_load(t, f);
    if (r != CUDA_SUCCESS)
        return r;
    r = f->layout.bytes <= sizeof(small)
            ? lay_out_and_send(t, f, l, stream, kernel_params, extra, small)
            : send_large(t, f, l, stream, kernel_params, extra);
    return r == CUDA_SUCCESS && environment_launch_blocking ? launch_wait(l->stream) : r;
}

CUresult launch_wait(CUstream stream) {
    CUstreamCaptureStatus status;
    CUresult r = cuStreamIsCapturing(stream, &status);

    if (r == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE)
        return CUDA_SUCCESS;
    return cuStreamSynchronize(stream);
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

static CUresult launch_ex(const CUlaunchConfig *config, bool per_thread, CUfunction f,
                          void **kernelParams, void **extra) {
    struct vcuda_launch_attribute room[VCUDA_LAUNCH_ATTRIBUTES_MAX];
    struct launch l;
    CUresult r = launch_read_config(&l, room, config);

    if (r != CUDA_SUCCESS)
        return r;
    if (per_thread)
        l.stream = guest_per_thread(l.stream);
    return launch_make(&l, f, kernelParams, extra);
}

VCUDA_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f,
                                       void **kernelParams, void **extra) {
    return launch_ex(config, false, f, kernelParams, extra);
}

VCUDA_EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f,
                                            void **kernelParams, void **extra) {
    return launch_ex(config, true, f, kernelParams, extra);
}

VCUDA_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX,
                                                unsigned int gridDimY, unsigned int gridDimZ,
                                                unsigned int blockDimX, unsigned int blockDimY,
                                                unsigned int blockDimZ, unsigned int sharedMemBytes,
                                                CUstream hStream, void **kernelParams) {
    const CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                           .value.cooperative = 1};
    struct vcuda_launch_attribute room;
    struct launch l;

    l.grid[0] = gridDimX, l.grid[1] = gridDimY, l.grid[2] = gridDimZ;
    l.block[0] = blockDimX, l.block[1] = blockDimY, l.block[2] = blockDimZ;
    l.shared = sharedMemBytes;
    l.stream = hStream;
    l.attributes = &room;
    l.attribute_count = 0;
    launch_add_attribute(&l, &cooperative);
    return launch_make(&l, f, kernelParams, NULL);
}

/* No waiting for the other devices before, or after, a launch. */
#define MULTI_DEVICE_FLAGS 3u

/* From before cooperative groups over several devices were given up: one device remains. */
VCUDA_EXPORT CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launchParamsList,
                                                           unsigned int numDevices,
                                                           unsigned int flags) {
    const CUDA_LAUNCH_PARAMS *p = launchParamsList;
    CUresult r = guest_ready();

    if (r != CUDA_SUCCESS)
        return r;
    if (!p || !numDevices || flags & ~MULTI_DEVICE_FLAGS)
        return CUDA_ERROR_INVALID_VALUE;
    if (numDevices > 1)
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuLaunchCooperativeKernel(p->function, p->gridDimX, p->gridDimY, p->gridDimZ,
                                     p->blockDimX, p->blockDimY, p->blockDimZ, p->sharedMemBytes,
                                     p->hStream, p->kernelParams);
}
