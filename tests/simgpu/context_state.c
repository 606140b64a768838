// SPDX-License-Identifier: Apache-2.0
/* Asking and setting what a context is like. */
#include "graph.h"
#include "sim.h"

#define LEAST_PRIORITY 0
#define GREATEST_PRIORITY (-5)

/* The context that is asked about, NULL for the current one, even if a kernel in it failed. */
#define LOOK(name, handle)                                                                         \
    SIM_AUTO struct sim_context *name = NULL;                                                      \
    CUresult name##_error = sim_context_look(handle, &name);                                       \
    if (name##_error != CUDA_SUCCESS)                                                              \
    return name##_error

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx) {
    LOOK(context, ctx);

    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = context->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    return cuCtxGetDevice_v2(device, NULL);
}

CUresult cuCtxGetFlags(unsigned int *flags) {
    LOOK(context, NULL);

    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = context->flags;
    return CUDA_SUCCESS;
}

/* Whether it maps host memory stays as it was when the context was made. */
CUresult cuCtxSetFlags(unsigned int flags) {
    const unsigned kept = CU_CTX_MAP_HOST;
    LOOK(context, NULL);

    if (!sim_good_context_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    context->flags = (flags & ~kept) | (context->flags & kept);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *ctxId) {
    LOOK(context, ctx);

    if (!ctxId)
        return CUDA_ERROR_INVALID_VALUE;
    *ctxId = context->id;
    return CUDA_SUCCESS;
}

/* 3020 stands for every context made since CUDA 3.2. */
CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version) {
    LOOK(context, ctx);

    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize_v2(CUcontext ctx) {
    SIM_AUTO struct sim_context *context = NULL;
    CUresult result = sim_enter_context(ctx, &context);

    if (result != CUDA_SUCCESS)
        return result;
    result = sim_capture_refuses_context(context);
    if (result != CUDA_SUCCESS)
        return result;
    sim_context_wait(context, SIM_ALL_STREAMS);
    sim_print_flush(context);
    return (CUresult)atomic_load(&context->device->error);
}

CUresult cuCtxSynchronize(void) {
    return cuCtxSynchronize_v2(NULL);
}

/* What is kept for contexts of graphics, of which there are none: told, but not set. */
static bool told_only(CUlimit limit) {
    return limit == CU_LIMIT_SHMEM_SIZE || limit == CU_LIMIT_CIG_ENABLED;
}

/* The limits that mean something here. */
static bool served(CUlimit limit) {
    return limit == CU_LIMIT_STACK_SIZE || limit == CU_LIMIT_PRINTF_FIFO_SIZE ||
           limit == CU_LIMIT_MALLOC_HEAP_SIZE ||
           limit == CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT ||
           limit == CU_LIMIT_MAX_L2_FETCH_GRANULARITY || limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    SIM_ENTER(context);

    if ((unsigned)limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (!served(limit))
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    if (limit == CU_LIMIT_MAX_L2_FETCH_GRANULARITY && value > 128)
        return CUDA_ERROR_INVALID_VALUE;
    if (limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE)
        value = 0; /* a hint, cut down to what the device has of it */
    atomic_store(&context->limits[limit], value);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit) {
    SIM_ENTER(context);

    if (!pvalue || (unsigned)limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (!served(limit) && !told_only(limit))
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *pvalue = atomic_load(&context->limits[limit]);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *pconfig) {
    SIM_ENTER(context);

    if (!pconfig)
        return CUDA_ERROR_INVALID_VALUE;
    *pconfig = context->cache;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    SIM_ENTER(context);

    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    context->cache = config;
    return CUDA_SUCCESS;
}

/* Banks of shared memory have one width on all devices of today: what is asked for is ignored. */
CUresult cuCtxGetSharedMemConfig(CUsharedconfig *pConfig) {
    SIM_ENTER(context);

    (void)context;
    if (!pConfig)
        return CUDA_ERROR_INVALID_VALUE;
    *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    SIM_ENTER(context);

    (void)context;
    return (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE
                                                                        : CUDA_SUCCESS;
}

/* No cache keeps anything. */
CUresult cuCtxResetPersistingL2Cache(void) {
    SIM_ENTER(context);

    (void)context;
    return CUDA_SUCCESS;
}

/* Contexts with some of the multiprocessors are of another sort of device: each has them all. */
CUresult cuCtxGetExecAffinity(CUexecAffinityParam *pExecAffinity, CUexecAffinityType type) {
    SIM_ENTER(context);

    if (!pExecAffinity)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    pExecAffinity->type = type;
    pExecAffinity->param.smCount.val = context->sm_count;
    return CUDA_SUCCESS;
}

/* Nobody is there who would profile. */
CUresult cuProfilerStart(void) {
    SIM_ENTER(context);

    (void)context;
    return CUDA_SUCCESS;
}

CUresult cuProfilerStop(void) {
    return cuProfilerStart();
}

CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority) {
    SIM_ENTER(context);

    if (leastPriority)
        *leastPriority = LEAST_PRIORITY;
    if (greatestPriority)
        *greatestPriority = GREATEST_PRIORITY;
    return CUDA_SUCCESS;
}

int sim_clamp_priority(int priority) {
    if (priority > LEAST_PRIORITY)
        return LEAST_PRIORITY;
    return priority < GREATEST_PRIORITY ? GREATEST_PRIORITY : priority;
}
