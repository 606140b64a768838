// SPDX-License-Identifier: Apache-2.0
/* Modules, functions, launches. */
#include <stdlib.h>

#include "image.h"
#include "launch_attributes.h"
#include "worker.h"

/* What cuModuleLoadDataEx is given: the guest's scalars, and buffers of ours for its logs. */
struct jit {
    CUjit_option options[VCUDA_JIT_OPTIONS_MAX + 5];
    void *values[VCUDA_JIT_OPTIONS_MAX + 5];
    unsigned int count;
    unsigned int info_at, error_at, wall_at; /* where the driver puts lengths and time */
};

static void add_option(struct jit *jit, CUjit_option option, uint64_t value) {
    jit->options[jit->count] = option;
    jit->values[jit->count++] = (void *)value;
}

/* Options with pointers would be pointers of the guest's. */
static bool option_travels(uint32_t option) {
    switch (option) {
    case CU_JIT_WALL_TIME:
    case CU_JIT_INFO_LOG_BUFFER:
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
    case CU_JIT_ERROR_LOG_BUFFER:
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
    case CU_JIT_GLOBAL_SYMBOL_NAMES:
    case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
    case CU_JIT_GLOBAL_SYMBOL_COUNT:
    case CU_JIT_REFERENCED_KERNEL_NAMES:
    case CU_JIT_REFERENCED_KERNEL_COUNT:
    case CU_JIT_REFERENCED_VARIABLE_NAMES:
    case CU_JIT_REFERENCED_VARIABLE_COUNT:
        return false;
    default:
        return option < CU_JIT_NUM_OPTIONS;
    }
}

static CUresult gather_options(struct jit *jit, const struct args_module_load *a, char *info,
                               char *error) {
    const struct vcuda_jit_option *o = a->options;
    uint32_t count = a->options_len / (uint32_t)sizeof(*o);

    jit->count = 0;
    if (a->options_len % sizeof(*o) || count > VCUDA_JIT_OPTIONS_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < count; i++) {
        if (!option_travels(o[i].option))
            return CUDA_ERROR_INVALID_VALUE;
        add_option(jit, (CUjit_option)o[i].option, o[i].value);
    }
    if (a->info_cap) {
        add_option(jit, CU_JIT_INFO_LOG_BUFFER, (uint64_t)info);
        jit->info_at = jit->count;
        add_option(jit, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, a->info_cap);
    }
    if (a->error_cap) {
        add_option(jit, CU_JIT_ERROR_LOG_BUFFER, (uint64_t)error);
        jit->error_at = jit->count;
        add_option(jit, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, a->error_cap);
    }
    jit->wall_at = jit->count;
    add_option(jit, CU_JIT_WALL_TIME, 0);
    return CUDA_SUCCESS;
}

static uint32_t log_length(const struct jit *jit, unsigned int at, uint32_t cap) {
    uint32_t len = cap ? (uint32_t)(uintptr_t)jit->values[at] : 0;

    return len < cap ? len : cap;
}

/* The image is copied before it is looked at: the guest can write to the arena all the while. */
static CUresult private_image(struct worker *w, uint64_t address, uint64_t bytes, void **image) {
    struct cuda_image measured;
    CUresult r;

    if (!bytes || bytes > CUDA_IMAGE_MAX || !regions_hold(w, address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    *image = malloc(bytes);
    if (!*image)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(*image, (const void *)address, bytes);
    r = cuda_image_measure(*image, bytes, &measured);
    if (r != CUDA_SUCCESS)
        free(*image);
    return r;
}

CUresult own_module_load(struct worker *w, struct frame *f, struct args_module_load *a) {
    struct vcuda_module_log *log = a->log;
    char *info = (char *)(log + 1);
    char error[VCUDA_JIT_LOG_MAX];
    struct jit jit;
    void *image;
    CUresult r;

    (void)f;
    if (a->info_cap > VCUDA_JIT_LOG_MAX || a->error_cap > VCUDA_JIT_LOG_MAX ||
        a->log_cap < sizeof(*log) + a->info_cap + a->error_cap)
        return CUDA_ERROR_INVALID_VALUE;
    r = gather_options(&jit, a, info, error);
    if (r == CUDA_SUCCESS)
        r = private_image(w, a->address, a->bytes, &image);
    if (r != CUDA_SUCCESS)
        return r;
    memset(error, 0, a->error_cap);
    log->status =
        w->driver.cuModuleLoadDataEx(&a->module, image, jit.count, jit.options, jit.values);
    free(image);
    if (log->status != CUDA_SUCCESS)
        a->module = NULL;
    log->info_bytes = log_length(&jit, jit.info_at, a->info_cap);
    log->error_bytes = log_length(&jit, jit.error_at, a->error_cap);
    memcpy(&log->wall_ms, &jit.values[jit.wall_at], sizeof(log->wall_ms));
    memcpy(info + log->info_bytes, error, log->error_bytes);
    a->log_len = (uint32_t)sizeof(*log) + log->info_bytes + log->error_bytes;
    return CUDA_SUCCESS;
}

/* A function comes with the layout of its parameters: a launch is laid out in the guest. */
CUresult own_module_function(struct worker *w, struct frame *f, struct args_module_function *a) {
    struct vcuda_function_info *info = a->info;
    int shared = 0, threads = 0;
    CUresult r;

    if (a->info_cap < sizeof(*info))
        return CUDA_ERROR_INVALID_VALUE;
    r = w->driver.cuModuleGetFunction(&a->hfunc, a->hmod, a->name);
    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     a->hfunc);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                         a->hfunc);
    if (r != CUDA_SUCCESS)
        return r;
    info->max_dynamic_shared = (uint32_t)shared;
    info->max_threads = (uint32_t)threads;
    f->owner = a->hmod_name;
    for (;;) {
        size_t offset, size;

        if (w->driver.cuFuncGetParamInfo(a->hfunc, info->params, &offset, &size) != CUDA_SUCCESS)
            break;
        if (sizeof(*info) + (info->params + 1) * sizeof(info->param[0]) > a->info_cap)
            return CUDA_ERROR_INVALID_VALUE;
        info->param[info->params++] = (struct vcuda_param){(uint32_t)offset, (uint32_t)size};
        if (offset + size > f->aux)
            f->aux = offset + size;
    }
    a->info_len = (uint32_t)(sizeof(*info) + info->params * sizeof(info->param[0]));
    return CUDA_SUCCESS;
}

static CUresult gather_attributes(const struct args_launch *a, CUlaunchAttribute *attributes,
                                  unsigned int *count) {
    const struct vcuda_launch_attribute *given = a->attributes;

    *count = a->attributes_len / (uint32_t)sizeof(*given);
    if (a->attributes_len % sizeof(*given) || *count > VCUDA_LAUNCH_ATTRIBUTES_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < *count; i++) {
        if (!cuda_launch_attribute_travels((CUlaunchAttributeID)given[i].id))
            return CUDA_ERROR_INVALID_VALUE;
        attributes[i].id = (CUlaunchAttributeID)given[i].id;
        memcpy(&attributes[i].value, given[i].value, sizeof(attributes[i].value));
    }
    return CUDA_SUCCESS;
}

CUresult own_launch(struct worker *w, struct frame *f, struct args_launch *a) {
    CUlaunchAttribute attributes[VCUDA_LAUNCH_ATTRIBUTES_MAX];
    CUlaunchConfig config = {a->gx, a->gy,     a->gz,     a->bx,      a->by,
                             a->bz, a->shared, a->stream, attributes, 0};
    size_t bytes = a->params_len;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)a->params, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    struct object function;
    CUresult r;

    (void)f;
    /* The driver reads as many bytes as the kernel has: all must be in the record. */
    if (!objects_get(&w->objects, VCUDA_KIND_FUNCTION, a->f_name, &function) ||
        bytes < function.aux)
        return CUDA_ERROR_INVALID_VALUE;
    r = gather_attributes(a, attributes, &config.numAttrs);
    if (r != CUDA_SUCCESS)
        return r;
    return w->driver.cuLaunchKernelEx(&config, a->f, NULL, bytes ? extra : NULL);
}
