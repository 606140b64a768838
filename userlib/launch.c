// SPDX-License-Identifier: Apache-2.0
/* Launches: checked here as the driver checks them at once, then posted. */
#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "code.h"
#include "cuda_calls.h"
#include "launch_attributes.h"
#include "session.h"
#include "wire.h"

struct launch {
    unsigned int grid[3], block[3], shared;
    CUstream stream;
    struct vcuda_launch_attribute attributes[VCUDA_LAUNCH_ATTRIBUTES_MAX];
    uint32_t attribute_count;
};

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
static CUresult gather_extra(const struct function *f, void **extra, const void **params,
                             uint32_t *bytes) {
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
    if (size != f->layout.bytes)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    *bytes = f->layout.bytes;
    return CUDA_SUCCESS;
}

/* One pointer a parameter, into `buffer` as the kernel wants them. */
static CUresult gather(const struct function *f, void **kernel_params, uint8_t *buffer) {
    memset(buffer, 0, f->layout.bytes);
    for (uint32_t i = 0; i < f->layout.params; i++) {
        if (!kernel_params || !kernel_params[i])
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(buffer + f->layout.param[i].offset, kernel_params[i], f->layout.param[i].size);
    }
    return CUDA_SUCCESS;
}

static CUresult launch(const struct launch *l, CUfunction function, void **kernel_params,
                       void **extra) {
    struct function *f;
    struct thread *t;
    uint8_t small[1024];
    uint8_t *buffer = small;
    const void *params = buffer;
    uint32_t bytes;
    uint64_t stream, context;
    CUresult r = guest_enter(&t);

    if (r == CUDA_SUCCESS)
        r = stream_resolve(t, l->stream, &stream, &context);
    if (r != CUDA_SUCCESS)
        return r;
    r = function_resolve(t, function, &f);
    if (r == CUDA_SUCCESS)
        r = check_shape(names_get(VCUDA_KIND_CONTEXT, t->context), f, l);
    if (r == CUDA_SUCCESS)
        r = check_shared(t, f, l->shared);
    if (r == CUDA_SUCCESS)
        r = function_load(t, f);
    if (r != CUDA_SUCCESS)
        return r;
    bytes = f->layout.bytes;
    if (bytes > sizeof(small)) {
        params = buffer = malloc(bytes);
        if (!buffer)
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    r = extra ? gather_extra(f, extra, &params, &bytes) : gather(f, kernel_params, buffer);
    if (r == CUDA_SUCCESS)
        r = wire_launch(t, f->name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                        l->block[2], l->shared, stream, l->attributes,
                        l->attribute_count * (uint32_t)sizeof(l->attributes[0]), params, bytes);
    if (buffer != small)
        free(buffer);
    return r;
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
    if (kernelParams && extra)
        return CUDA_ERROR_INVALID_VALUE;
    return launch(&l, f, kernelParams, extra);
}

static void add_attribute(struct launch *l, CUlaunchAttributeID id, const void *value,
                          size_t bytes) {
    struct vcuda_launch_attribute *a = &l->attributes[l->attribute_count++];

    memset(a, 0, sizeof(*a));
    a->id = id;
    memcpy(a->value, value, bytes);
}

static CUresult launch_ex(const CUlaunchConfig *config, CUstream stream, CUfunction f,
                          void **kernelParams, void **extra) {
    struct launch l;

    if (!config || (kernelParams && extra) || (config->numAttrs && !config->attrs) ||
        config->numAttrs > VCUDA_LAUNCH_ATTRIBUTES_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    l.grid[0] = config->gridDimX, l.grid[1] = config->gridDimY, l.grid[2] = config->gridDimZ;
    l.block[0] = config->blockDimX, l.block[1] = config->blockDimY, l.block[2] = config->blockDimZ;
    l.shared = config->sharedMemBytes;
    l.stream = stream;
    l.attribute_count = 0;
    for (unsigned int i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *a = &config->attrs[i];

        if (a->id == CU_LAUNCH_ATTRIBUTE_IGNORE)
            continue;
        if (!cuda_launch_attribute_travels(a->id))
            return CUDA_ERROR_NOT_SUPPORTED;
        add_attribute(&l, a->id, &a->value, sizeof(a->value));
    }
    return launch(&l, f, kernelParams, extra);
}

VCUDA_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f,
                                       void **kernelParams, void **extra) {
    return launch_ex(config, config ? config->hStream : NULL, f, kernelParams, extra);
}

VCUDA_EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f,
                                            void **kernelParams, void **extra) {
    return launch_ex(config, guest_per_thread(config ? config->hStream : NULL), f, kernelParams,
                     extra);
}

VCUDA_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX,
                                                unsigned int gridDimY, unsigned int gridDimZ,
                                                unsigned int blockDimX, unsigned int blockDimY,
                                                unsigned int blockDimZ, unsigned int sharedMemBytes,
                                                CUstream hStream, void **kernelParams) {
    const int yes = 1;
    struct launch l;

    l.grid[0] = gridDimX, l.grid[1] = gridDimY, l.grid[2] = gridDimZ;
    l.block[0] = blockDimX, l.block[1] = blockDimY, l.block[2] = blockDimZ;
    l.shared = sharedMemBytes;
    l.stream = hStream;
    l.attribute_count = 0;
    add_attribute(&l, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &yes, sizeof(yes));
    return launch(&l, f, kernelParams, NULL);
}
