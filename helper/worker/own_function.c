// SPDX-License-Identifier: Apache-2.0
/*
 * Functions and kernels. Both come with the layout of their parameters: a launch is laid out in the
 * guest.
 */
#include "bundle.h"
#include "function.h"
#include "launch_attributes.h"
#include "worker.h"

/* Fills in the parameters; *bytes: up to the end of the last one. */
static CUresult fill_layout(struct worker *w, CUfunction function, struct vcuda_function_info *info,
                            uint32_t cap, uint32_t *len, uint64_t *bytes) {
    size_t offset, size;

    while (w->driver.cuFuncGetParamInfo(function, info->params, &offset, &size) == CUDA_SUCCESS) {
        if (sizeof(*info) + (info->params + 1) * sizeof(info->param[0]) > cap)
            return CUDA_ERROR_INVALID_VALUE;
        info->param[info->params++] = (struct vcuda_param){(uint32_t)offset, (uint32_t)size};
        if (offset + size > *bytes)
            *bytes = offset + size;
    }
    *len = (uint32_t)(sizeof(*info) + info->params * sizeof(info->param[0]));
    return CUDA_SUCCESS;
}

/* Whether launches of it must be in clusters, of a size that only the driver checks. */
static bool in_clusters(struct worker *w, CUfunction function) {
    int must = 0, width = 0;

    w->driver.cuFuncGetAttribute(&must, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, function);
    w->driver.cuFuncGetAttribute(&width, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, function);
    return must || width;
}

static CUresult fill_function(struct worker *w, struct frame *f, CUfunction function,
                              struct vcuda_function_info *info, uint32_t cap, uint32_t *len) {
    int shared = 0, threads = 0, local = 0;
    uint64_t params = 0;
    CUresult r;

    if (cap < sizeof(*info))
        return CUDA_ERROR_INVALID_VALUE;
    r = w->driver.cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     function);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                         function);
    if (r != CUDA_SUCCESS)
        return r;
    info->max_dynamic_shared = (uint32_t)shared;
    info->max_threads = (uint32_t)threads;
    info->clusters = in_clusters(w, function);
    r = fill_layout(w, function, info, cap, len, &params);
    w->driver.cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function);
    f->aux = function_aux(params, (uint32_t)local, info->clusters);
    return r;
}

CUresult own_module_function(struct worker *w, struct frame *f, struct args_module_function *a) {
    CUresult r = w->driver.cuModuleGetFunction(&a->hfunc, a->hmod, a->name);

    f->owner = a->hmod_name;
    return r == CUDA_SUCCESS ? fill_function(w, f, a->hfunc, a->info, a->info_cap, &a->info_len)
                             : r;
}

/* A kernel's function ends with the kernel and with its context. */
CUresult own_kernel_function(struct worker *w, struct frame *f, struct args_kernel_function *a) {
    CUresult r = w->driver.cuKernelGetFunction(&a->function, a->kernel);

    f->owner = a->kernel_name;
    f->also_owner = f->head.ctx;
    return r == CUDA_SUCCESS ? fill_function(w, f, a->function, a->info, a->info_cap, &a->info_len)
                             : r;
}

/* A graph's node keeps clusters, and does nothing when it is another function's later. */
static void heed_clusters(int32_t attribute) {
    if (cuda_function_attribute_clusters((CUfunction_attribute)attribute))
        bundle_give_up();
}

CUresult own_cuFuncSetAttribute(struct worker *w, struct frame *f,
                                struct args_cuFuncSetAttribute *a) {
    (void)f;
    heed_clusters(a->attrib);
    return w->driver.cuFuncSetAttribute(a->hfunc, (CUfunction_attribute)a->attrib, a->value);
}

CUresult own_cuKernelSetAttribute(struct worker *w, struct frame *f,
                                  struct args_cuKernelSetAttribute *a) {
    (void)f;
    heed_clusters(a->attrib);
    return w->driver.cuKernelSetAttribute((CUfunction_attribute)a->attrib, a->val, a->kernel,
                                          a->dev);
}

CUresult own_library_kernel(struct worker *w, struct frame *f, struct args_library_kernel *a) {
    f->owner = a->library_name;
    return w->driver.cuLibraryGetKernel(&a->kernel, a->library, a->name);
}

/* Takes one attribute down. Only if the first cannot be asked can none: then it says why. */
static CUresult take_attribute(int32_t *values, int i, CUresult r, int value) {
    values[i] = r == CUDA_SUCCESS ? value : VCUDA_ATTRIBUTE_NONE;
    return i ? CUDA_SUCCESS : r;
}

CUresult own_kernel_attributes(struct worker *w, struct frame *f,
                               struct args_kernel_attributes *a) {
    int32_t *values = a->values;
    CUresult r = CUDA_SUCCESS;

    (void)f;
    if (a->values_cap != VCUDA_FUNCTION_ATTRIBUTES * sizeof(*values))
        return CUDA_ERROR_INVALID_VALUE;
    a->values_len = a->values_cap;
    for (int i = 0; i < VCUDA_FUNCTION_ATTRIBUTES && r == CUDA_SUCCESS; i++) {
        int value = 0;

        r = w->driver.cuKernelGetAttribute(&value, (CUfunction_attribute)i, a->kernel, a->dev);
        r = take_attribute(values, i, r, value);
    }
    return r;
}

CUresult own_function_attributes(struct worker *w, struct frame *f,
                                 struct args_function_attributes *a) {
    int32_t *values = a->values;
    CUresult r = CUDA_SUCCESS;

    (void)f;
    if (a->values_cap != VCUDA_FUNCTION_ATTRIBUTES * sizeof(*values))
        return CUDA_ERROR_INVALID_VALUE;
    a->values_len = a->values_cap;
    for (int i = 0; i < VCUDA_FUNCTION_ATTRIBUTES && r == CUDA_SUCCESS; i++) {
        int value = 0;

        r = w->driver.cuFuncGetAttribute(&value, (CUfunction_attribute)i, a->hfunc);
        r = take_attribute(values, i, r, value);
    }
    return r;
}

/*
 * What a first launch does by itself, also into a stream that is being captured: loading is then no
 * offence of the thread's.
 */
CUresult own_cuFuncLoad(struct worker *w, struct frame *f, struct args_cuFuncLoad *a) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult r;

    (void)f;
    w->driver.cuThreadExchangeStreamCaptureMode(&mode);
    r = w->driver.cuFuncLoad(a->function);
    w->driver.cuThreadExchangeStreamCaptureMode(&mode);
    return r;
}
