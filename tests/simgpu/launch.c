// SPDX-License-Identifier: Apache-2.0
#include "launch.h"

#include <stdlib.h>
#include <string.h>

#include "graph.h"

struct launch_op {
    struct sim_op op;
    struct sim_function *function; /* a reference */
    struct ptx_launch launch;
    struct sim_launch_settings settings;
    size_t bytes; /* of the parameters */
    /* What the program gave, if it asks what a node does. */
    CUfunction func;
    CUkernel kern;
    void *extra[5]; /* the first is NULL: they were given one by one */
    void **pointers;
    char params[]; /* packed */
};

static atomic_uint_fast64_t last_grid;

static CUresult run(struct sim_op *op, struct sim_context *context) {
    struct launch_op *launch = (struct launch_op *)op;
    enum ptx_status status;

    (void)context;
    sim_memory_kernel_begins();
    status = ptx_launch_run(launch->function->ptx, &launch->launch, NULL, 0);
    sim_memory_kernel_ends();
    return sim_status_error(status);
}

static void release(struct sim_op *op) {
    struct launch_op *launch = (struct launch_op *)op;

    sim_put(launch->function);
    free(launch->pointers);
    free(launch);
}

static void tell(const struct sim_op *op, CUgraphNodeParams *params) {
    struct launch_op *launch = (struct launch_op *)op;

    params->kernel = (CUDA_KERNEL_NODE_PARAMS_v3){
        .func = launch->func,
        .kern = launch->kern,
        .gridDimX = launch->launch.grid[0],
        .gridDimY = launch->launch.grid[1],
        .gridDimZ = launch->launch.grid[2],
        .blockDimX = launch->launch.block[0],
        .blockDimY = launch->launch.block[1],
        .blockDimZ = launch->launch.block[2],
        .sharedMemBytes = launch->launch.dynamic_shared,
        .kernelParams = launch->pointers,
        .extra = launch->extra[0] ? launch->extra : NULL,
        .ctx = SIM_HANDLE(launch->function->module->context),
    };
}

/* Everything that a call says about a launch. */
struct request {
    unsigned grid[3], block[3];
    unsigned shared; /* bytes, dynamic */
    CUstream stream;
    bool per_thread;
    struct sim_launch_settings settings;
    void **params;
    void **extra;
};

static bool within(const unsigned size[3], const unsigned limit[3]) {
    for (int i = 0; i < 3; i++)
        if (size[i] == 0 || size[i] > limit[i])
            return false;
    return true;
}

/* What the driver refuses at once. */
static CUresult check_shape(const struct request *request, const struct sim_function *function) {
    static const unsigned grid_limit[3] = {2147483647, 65535, 65535};
    static const unsigned block_limit[3] = {1024, 1024, 64};
    const struct ptx_func_info *info = &function->info;
    unsigned threads;

    if (!within(request->grid, grid_limit) || !within(request->block, block_limit))
        return CUDA_ERROR_INVALID_VALUE;
    threads = request->block[0] * request->block[1] * request->block[2];
    if (threads > SIM_MAX_THREADS ||
        request->shared > (unsigned)atomic_load(&function->settings.max_dynamic_shared))
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < 3; i++)
        if (info->reqntid[0] && request->block[i] != (unsigned)info->reqntid[i])
            return CUDA_ERROR_INVALID_VALUE;
    if (threads > (unsigned)info->max_threads_per_block)
        return CUDA_ERROR_INVALID_VALUE; /* seen of the native driver */
    return CUDA_SUCCESS;
}

/* All blocks of a cooperative launch must be on the device at once. */
static CUresult check_cooperative(const struct request *request,
                                  const struct sim_function *function) {
    unsigned threads = request->block[0] * request->block[1] * request->block[2];
    uint64_t blocks = (uint64_t)request->grid[0] * request->grid[1] * request->grid[2];
    uint64_t room = (uint64_t)sim_occupancy(function, (int)threads, request->shared) *
                    function->module->context->sm_count;

    return request->settings.cooperative && blocks > room ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
                                                          : CUDA_SUCCESS;
}

/* The packed buffer out of the `extra` list: pairs of a tag and a value. */
static CUresult read_extra(void **extra, const void **buffer, size_t *size) {
    *buffer = NULL;
    *size = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *size = *(size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    return *buffer || *size == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Packs the parameters, in whichever form they come, into `packed`, of info.param_bytes. */
static CUresult pack_params(const struct request *request, const struct sim_function *function,
                            char *packed) {
    const struct ptx_func_info *info = &function->info;
    const void *buffer;
    CUresult result;
    size_t size;

    if (request->params && request->extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (request->extra) {
        result = read_extra(request->extra, &buffer, &size);
        if (result != CUDA_SUCCESS)
            return result;
        if (size < info->param_bytes)
            return CUDA_ERROR_INVALID_VALUE;
        if (info->param_bytes)
            memcpy(packed, buffer, info->param_bytes);
        return CUDA_SUCCESS;
    }
    if (info->param_count && !request->params)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < info->param_count; i++) {
        size_t offset;

        if (!request->params[i] || !ptx_func_param(function->ptx, i, &offset, &size))
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(packed + offset, request->params[i], size);
    }
    return CUDA_SUCCESS;
}

static struct launch_op *new_op(const struct request *request, struct sim_function *function) {
    struct launch_op *op = sim_op_new(sizeof(*op) + function->info.param_bytes, run);

    if (!op)
        return NULL;
    op->op.release = release;
    op->op.kind = CU_GRAPH_NODE_TYPE_KERNEL;
    op->op.tell = tell;
    op->function = sim_ref(function);
    op->func = SIM_HANDLE(function);
    op->bytes = function->info.param_bytes;
    op->settings = request->settings;
    op->launch = (struct ptx_launch){
        .grid = {request->grid[0], request->grid[1], request->grid[2]},
        .block = {request->block[0], request->block[1], request->block[2]},
        .dynamic_shared = request->shared,
        .params = op->params,
        .cancel = &sim_exiting,
        .print = sim_print_append,
        .print_opaque = function->module->context,
        .cooperative = request->settings.cooperative,
        .sm_count = function->module->context->sm_count,
        .grid_id = atomic_fetch_add(&last_grid, 1) + 1,
        .stack_bytes = atomic_load(&function->module->context->limits[CU_LIMIT_STACK_SIZE]),
    };
    sim_cluster_of(&request->settings, &function->info, op->launch.cluster);
    return op;
}

const struct sim_launch_settings *sim_launch_settings_of(const struct sim_op *op) {
    return &((const struct launch_op *)op)->settings;
}

/* Keeps the form in which the program gave the kernel and its parameters. */
static CUresult keep_form(struct launch_op *op, const CUDA_KERNEL_NODE_PARAMS_v3 *p) {
    unsigned count = op->function->info.param_count;
    size_t offset, size;

    op->func = p->func;
    op->kern = p->kern;
    if (p->extra) {
        op->extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
        op->extra[1] = op->params;
        op->extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
        op->extra[3] = &op->bytes;
        op->extra[4] = CU_LAUNCH_PARAM_END;
        return CUDA_SUCCESS;
    }
    op->pointers = calloc(count + 1, sizeof(*op->pointers));
    if (!op->pointers)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < count && ptx_func_param(op->function->ptx, i, &offset, &size); i++)
        op->pointers[i] = op->params + offset;
    return CUDA_SUCCESS;
}

static CUresult make_op(struct sim_context *context, CUfunction f, const struct request *request,
                        struct launch_op **op) {
    SIM_AUTO struct sim_function *function = NULL;
    CUresult result = sim_function_get(context, f, &function);

    if (result == CUDA_SUCCESS)
        result = check_shape(request, function);
    if (result == CUDA_SUCCESS)
        result = sim_cluster_check(&request->settings, function, request->grid);
    if (result == CUDA_SUCCESS)
        result = check_cooperative(request, function);
    if (result != CUDA_SUCCESS)
        return result;
    *op = new_op(request, function);
    if (!*op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = pack_params(request, function, (*op)->params);
    if (result != CUDA_SUCCESS)
        sim_op_discard(&(*op)->op);
    return result;
}

CUresult sim_launch_op(struct sim_context *context, const CUDA_KERNEL_NODE_PARAMS_v3 *p,
                       struct sim_op **op) {
    struct request request = {.grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                              .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                              .shared = p->sharedMemBytes,
                              .params = p->kernelParams,
                              .extra = p->extra};
    struct launch_op *launch;
    CUresult result = make_op(context, p->func ? p->func : (CUfunction)p->kern, &request, &launch);

    if (result == CUDA_SUCCESS) {
        result = keep_form(launch, p);
        if (result != CUDA_SUCCESS)
            sim_op_discard(&launch->op);
    }
    *op = result == CUDA_SUCCESS ? &launch->op : NULL;
    return result;
}

CUresult sim_launch_with(const struct sim_op *op, const struct sim_launch_settings *settings,
                         struct sim_op **out) {
    const struct launch_op *old = (const struct launch_op *)op;
    struct request request = {.shared = old->launch.dynamic_shared, .settings = *settings};
    CUDA_KERNEL_NODE_PARAMS_v3 form = {
        .func = old->func, .kern = old->kern, .extra = old->extra[0] ? (void **)old->extra : NULL};
    struct launch_op *launch;
    CUresult result;

    for (int i = 0; i < 3; i++) {
        request.grid[i] = old->launch.grid[i];
        request.block[i] = old->launch.block[i];
    }
    result = sim_cluster_check(settings, old->function, request.grid);
    if (result == CUDA_SUCCESS)
        result = check_cooperative(&request, old->function);
    if (result != CUDA_SUCCESS)
        return result;
    launch = new_op(&request, old->function);
    if (!launch)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(launch->params, old->params, old->bytes);
    result = keep_form(launch, &form);
    if (result != CUDA_SUCCESS)
        sim_op_discard(&launch->op);
    else
        *out = &launch->op;
    return result;
}

static CUresult launch(CUfunction f, const struct request *request) {
    SIM_AUTO struct sim_stream *stream = NULL;
    struct launch_op *op;
    SIM_ENTER(context);
    CUresult result = sim_stream_get(context, request->stream, request->per_thread, &stream);

    if (result == CUDA_SUCCESS)
        result = make_op(context, f, request, &op);
    return result == CUDA_SUCCESS ? sim_submit_with_room(stream, &op->op) : result;
}

/* Of the forms that have all of it as arguments, by the same names. */
#define LAUNCH(...)                                                                                \
    launch(f, &(struct request){.grid = {gridDimX, gridDimY, gridDimZ},                            \
                                .block = {blockDimX, blockDimY, blockDimZ},                        \
                                .shared = sharedMemBytes,                                          \
                                .stream = hStream,                                                 \
                                .params = kernelParams,                                            \
                                __VA_ARGS__})

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                        unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                        unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                        void **kernelParams, void **extra) {
    return LAUNCH(.extra = extra);
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                             unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                             unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                             void **kernelParams, void **extra) {
    return LAUNCH(.extra = extra, .per_thread = true);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                   unsigned int gridDimZ, unsigned int blockDimX,
                                   unsigned int blockDimY, unsigned int blockDimZ,
                                   unsigned int sharedMemBytes, CUstream hStream,
                                   void **kernelParams) {
    return LAUNCH(.settings.cooperative = true);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                        unsigned int gridDimZ, unsigned int blockDimX,
                                        unsigned int blockDimY, unsigned int blockDimZ,
                                        unsigned int sharedMemBytes, CUstream hStream,
                                        void **kernelParams) {
    return LAUNCH(.settings.cooperative = true, .per_thread = true);
}

/* One attribute of a launch: obeyed, harmless to ignore because it is a hint, or refused. */
static CUresult read_attribute(const CUlaunchAttribute *attribute, struct request *request) {
    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: /* a permission to overlap */
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return sim_launch_setting_set(&request->settings, attribute->id, &attribute->value);
    }
}

static CUresult launch_ex(const CUlaunchConfig *config, CUfunction f, void **params, void **extra,
                          bool per_thread) {
    struct request request;
    SIM_READY();

    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    request = (struct request){
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .shared = config->sharedMemBytes,
        .stream = config->hStream,
        .per_thread = per_thread,
        .params = params,
        .extra = extra,
    };
    for (unsigned i = 0; i < config->numAttrs; i++) {
        CUresult result = read_attribute(&config->attrs[i], &request);

        if (result != CUDA_SUCCESS)
            return result;
    }
    return launch(f, &request);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                          void **extra) {
    return launch_ex(config, f, kernelParams, extra, false);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                               void **extra) {
    return launch_ex(config, f, kernelParams, extra, true);
}
