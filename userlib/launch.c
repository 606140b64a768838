// SPDX-License-Identifier: Apache-2.0
/* Launches: checked here as the driver checks them at once, then posted. */
#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "capture.h"
#include "code.h"
#include "cuda_calls.h"
#include "environment.h"
#include "launch.h"
#include "launch_attributes.h"
#include "session.h"
#include "wire.h"

static int limit_of(const struct context *c, CUdevice_attribute a) {
    return session.devices[c->device].attributes[a];
}

/* The configuration's own errors, which native tells at once. */
static CUresult check_shape(const struct context *c, const struct function *f,
                            const struct launch *l) {
    static const CUdevice_attribute grid_max[] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                                                  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                                  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
    static const CUdevice_attribute block_max[] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                                                   CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                                   CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
    uint64_t threads = 1;

    for (int i = 0; i < 3; i++) {
        if (!l->grid[i] || l->grid[i] > (unsigned int)limit_of(c, grid_max[i]) || !l->block[i] ||
            l->block[i] > (unsigned int)limit_of(c, block_max[i]))
            return CUDA_ERROR_INVALID_VALUE;
        threads *= l->block[i];
    }
    return threads > f->max_threads ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
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

/* One pointer a parameter, into `buffer` as the kernel wants them. */
static CUresult gather(const struct layout *l, void **kernel_params, uint8_t *buffer) {
    memset(buffer, 0, l->bytes);
    for (uint32_t i = 0; i < l->params; i++) {
        if (!kernel_params || !kernel_params[i])
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(buffer + l->param[i].offset, kernel_params[i], l->param[i].size);
    }
    return CUDA_SUCCESS;
}

CUresult launch_params(const struct layout *l, void **kernel_params, void **extra, void *buffer,
                       const void **params) {
    *params = buffer;
    return extra ? gather_extra(l, extra, params) : gather(l, kernel_params, buffer);
}

CUresult launch_check(struct thread *t, struct function *f, const struct launch *l) {
    CUresult r = check_shape(names_get(VCUDA_KIND_CONTEXT, t->context), f, l);

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

CUresult launch_read_config(struct launch *l, const CUlaunchConfig *config) {
    CUresult r = CUDA_SUCCESS;

    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    l->grid[0] = config->gridDimX, l->grid[1] = config->gridDimY, l->grid[2] = config->gridDimZ;
    l->block[0] = config->blockDimX, l->block[1] = config->blockDimY;
    l->block[2] = config->blockDimZ;
    l->shared = config->sharedMemBytes;
    l->stream = config->hStream;
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

/*
 * Whether the driver must look at a launch before we go on: what it says of attributes and clusters
 * it says at once, and nobody here knows all its rules. A shape that it took once it takes again.
 */
static bool must_ask(const struct function *f, const struct launch *l, uint64_t *shape) {
    *shape = 0;
    if (!l->attribute_count && !f->clusters)
        return false;
    *shape = 0xcbf29ce484222325u;
    hash(shape, l->grid, sizeof(l->grid));
    hash(shape, l->block, sizeof(l->block));
    hash(shape, &l->shared, sizeof(l->shared));
    for (uint32_t i = 0; i < l->attribute_count; i++) {
        const struct vcuda_launch_attribute *a = &l->attributes[i];

        hash(shape, &a->id, sizeof(a->id));
        if (cuda_launch_attribute_travels((CUlaunchAttributeID)a->id))
            hash(shape, a->value, sizeof(a->value));
    }
    for (int i = 0; i < FUNCTION_SHAPES; i++) {
        if (vcuda_load_once(&f->shapes[i]) == *shape)
            return false;
    }
    return true;
}

static void remember(struct function *f, uint64_t shape) {
    uint32_t place = __atomic_fetch_add(&f->shapes_used, 1, __ATOMIC_RELAXED);

    vcuda_store_once(&f->shapes[place % FUNCTION_SHAPES], shape);
}

static CUresult send(struct thread *t, struct function *f, const struct launch *l, uint64_t stream,
                     const void *params) {
    uint64_t shape;
    bool ask = must_ask(f, l, &shape);
    CUresult r = wire_launch(t, !ask, f->name, l->grid[0], l->grid[1], l->grid[2], l->block[0],
                             l->block[1], l->block[2], l->shared, stream, l->attributes,
                             l->attribute_count * (uint32_t)sizeof(l->attributes[0]), params,
                             f->layout.bytes);

    if (ask && r == CUDA_SUCCESS)
        remember(f, shape);
    return r;
}

/* A launch that native finds wrong at once spoils the capture that it would have been part of. */
static CUresult spoil_capture(struct thread *t, uint64_t stream, CUresult why) {
    if (capture_any() && capture_graph(t, stream))
        wire_capture_invalidate(t, stream);
    return why;
}

CUresult launch_make(const struct launch *l, CUfunction function, void **kernel_params,
                     void **extra) {
    struct function *f;
    struct thread *t;
    uint8_t small[1024];
    uint8_t *buffer = small;
    const void *params;
    uint64_t stream, context;
    CUresult r = guest_enter(&t);

    if (r == CUDA_SUCCESS && kernel_params && extra)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = stream_resolve(t, l->stream, &stream, &context);
    if (r == CUDA_SUCCESS)
        r = function_resolve(t, function, &f);
    if (r != CUDA_SUCCESS)
        return r;
    r = launch_check(t, f, l);
    if (r != CUDA_SUCCESS)
        return spoil_capture(t, stream, r);
    r = function_load(t, f);
    if (r != CUDA_SUCCESS)
        return r;
    if (f->layout.bytes > sizeof(small)) {
        buffer = malloc(f->layout.bytes);
        if (!buffer)
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    r = launch_params(&f->layout, kernel_params, extra, buffer, &params);
    if (r == CUDA_SUCCESS)
        r = send(t, f, l, stream, params);
    if (buffer != small)
        free(buffer);
    return r == CUDA_SUCCESS && environment_launch_blocking() ? launch_wait(l->stream) : r;
}

CUresult launch_wait(CUstream stream) {
    CUstreamCaptureStatus status;
    CUresult r = cuStreamIsCapturing(stream, &status);

    if (r == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE)
        return CUDA_SUCCESS;
    return cuStreamSynchronize(stream);
}

VCUDA_EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                     unsigned int gridDimZ, unsigned int blockDimX,
                                     unsigned int blockDimY, unsigned int blockDimZ,
                                     unsigned int sharedMemBytes, CUstream hStream,
                                     void **kernelParams, void **extra) {
    struct launch l;

    l.grid[0] = gridDimX, l.grid[1] = gridDimY, l.grid[2] = gridDimZ;
    l.block[0] = blockDimX, l.block[1] = blockDimY, l.block[2] = blockDimZ;
    l.shared = sharedMemBytes;
    l.stream = hStream;
    l.attribute_count = 0;
    return launch_make(&l, f, kernelParams, extra);
}

static CUresult launch_ex(const CUlaunchConfig *config, bool per_thread, CUfunction f,
                          void **kernelParams, void **extra) {
    struct launch l;
    CUresult r = launch_read_config(&l, config);

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
    struct launch l;

    l.grid[0] = gridDimX, l.grid[1] = gridDimY, l.grid[2] = gridDimZ;
    l.block[0] = blockDimX, l.block[1] = blockDimY, l.block[2] = blockDimZ;
    l.shared = sharedMemBytes;
    l.stream = hStream;
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
