// SPDX-License-Identifier: Apache-2.0
/* Launches as CUDA 3 had them: shape and parameters are set on the function, one by one. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_calls.h"
#include "launch.h"
#include "wire.h"

#define OLD_PARAM_BYTES 4096

struct old_launch {
    unsigned int block[3];
    unsigned int shared;
    unsigned int bytes; /* of the parameters */
    unsigned char params[OLD_PARAM_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What is set on a function so far: a new one has nothing. */
static CUresult enter(CUfunction function, struct function **f) {
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    *f = names_get(VCUDA_KIND_FUNCTION, (uint64_t)function);
    if (!*f)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&lock);
    if (!(*f)->old)
        (*f)->old = calloc(1, sizeof(*(*f)->old));
    pthread_mutex_unlock(&lock);
    return (*f)->old ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

VCUDA_EXPORT CUresult cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z) {
    struct function *f;
    CUresult r = enter(hfunc, &f);

    if (r != CUDA_SUCCESS)
        return r;
    if (x <= 0 || y <= 0 || z <= 0 || (uint64_t)x * (uint64_t)y > f->max_threads ||
        (uint64_t)x * (uint64_t)y * (uint64_t)z > f->max_threads)
        return CUDA_ERROR_INVALID_VALUE;
    f->old->block[0] = (unsigned int)x;
    f->old->block[1] = (unsigned int)y;
    f->old->block[2] = (unsigned int)z;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes) {
    struct function *f;
    CUresult r = enter(hfunc, &f);

    if (r == CUDA_SUCCESS)
        f->old->shared = bytes;
    return r;
}

VCUDA_EXPORT CUresult cuParamSetSize(CUfunction hfunc, unsigned int numbytes) {
    struct function *f;
    CUresult r = enter(hfunc, &f);

    if (r == CUDA_SUCCESS && numbytes > OLD_PARAM_BYTES)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        f->old->bytes = numbytes;
    return r;
}

VCUDA_EXPORT CUresult cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes) {
    struct function *f;
    CUresult r = enter(hfunc, &f);

    if (r != CUDA_SUCCESS)
        return r;
    if (!ptr || offset < 0 || offset > OLD_PARAM_BYTES ||
        numbytes > OLD_PARAM_BYTES - (unsigned int)offset)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(f->old->params + offset, ptr, numbytes);
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuParamSeti(CUfunction hfunc, int offset, unsigned int value) {
    return cuParamSetv(hfunc, offset, &value, sizeof(value));
}

VCUDA_EXPORT CUresult cuParamSetf(CUfunction hfunc, int offset, float value) {
    return cuParamSetv(hfunc, offset, &value, sizeof(value));
}

VCUDA_EXPORT CUresult cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height,
                                        CUstream hStream) {
    struct function *function;
    struct launch l;
    size_t bytes;
    CUresult r = enter(f, &function);

    if (r != CUDA_SUCCESS)
        return r;
    if (grid_width <= 0 || grid_height <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    bytes = function->old->bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, function->old->params,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    l.grid[0] = (unsigned int)grid_width, l.grid[1] = (unsigned int)grid_height, l.grid[2] = 1;
    memcpy(l.block, function->old->block, sizeof(l.block));
    l.shared = function->old->shared;
    l.stream = hStream;
    l.attributes = NULL;
    l.attribute_count = 0;
    return launch_make(&l, f, NULL, extra);
}

VCUDA_EXPORT CUresult cuLaunchGrid(CUfunction f, int grid_width, int grid_height) {
    return cuLaunchGridAsync(f, grid_width, grid_height, NULL);
}

VCUDA_EXPORT CUresult cuLaunch(CUfunction f) {
    return cuLaunchGrid(f, 1, 1);
}
