// SPDX-License-Identifier: Apache-2.0
/* The life of contexts, primary and created. */
#include <limits.h>
#include <stdlib.h>

#include "export/locals.h"
#include "sim.h"

static atomic_uint_fast64_t last_id;

static const size_t default_limits[CU_LIMIT_MAX] = {
    [CU_LIMIT_STACK_SIZE] = 1024,
    [CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20,
    [CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20,
    [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
    [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 128,
};

static void destroy_context(struct sim_object *object) {
    struct sim_context *context = (struct sim_context *)object;

    pthread_mutex_destroy(&context->lock);
    free(context->printed.text);
    free(context->complaints.text);
    free(context);
}

struct sim_context *sim_context_new(struct sim_device *device) {
    struct sim_context *context = calloc(1, sizeof(*context));

    if (!context)
        return NULL;
    sim_object_init(&context->object, SIM_CONTEXT, destroy_context);
    context->device = device;
    context->sm_count = SIM_SM_COUNT;
    pthread_mutex_init(&context->lock, NULL);
    if (sim_handle_open(&context->object))
        return context;
    sim_put(context);
    return NULL;
}

CUresult sim_context_open(struct sim_context *context, unsigned flags) {
    CUresult error = (CUresult)atomic_load(&context->device->error);

    if (error != CUDA_SUCCESS)
        return error;
    context->id = context->home = atomic_fetch_add(&last_id, 1) + 1;
    context->flags = flags;
    context->cache = CU_FUNC_CACHE_PREFER_NONE;
    for (int i = 0; i < CU_LIMIT_MAX; i++)
        atomic_store(&context->limits[i], default_limits[i]);
    context->legacy = sim_stream_new(context, CU_STREAM_DEFAULT, 0);
    if (!context->legacy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    atomic_store(&context->open, true);
    return CUDA_SUCCESS;
}

static void close_modules(struct sim_context *context) {
    for (;;) {
        struct sim_module *module;

        pthread_mutex_lock(&context->lock);
        module = context->modules ? sim_ref(context->modules) : NULL;
        pthread_mutex_unlock(&context->lock);
        if (!module)
            return;
        sim_module_close(module);
        sim_put(module);
    }
}

void sim_context_close(struct sim_context *context) {
    struct sim_stream *legacy = context->legacy;

    atomic_store(&context->open, false);
    sim_context_wait(context, SIM_ALL_STREAMS);
    sim_print_flush(context);
    close_modules(context);
    sim_context_close_streams(context);
    sim_memory_free_owner(context->id);
    sim_mark_store(&context->gate, NULL);
    sim_peer_forget(context->id);
    atomic_store(&context->attached, 0);
    context->legacy = NULL;
    sim_put(legacy);
}

CUresult sim_context_get(CUcontext handle, struct sim_context **out) {
    struct sim_context *context = sim_handle_get(handle, SIM_CONTEXT);

    *out = NULL;
    if (!context)
        return sim_handle_stale(handle, SIM_CONTEXT) ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                     : CUDA_ERROR_INVALID_CONTEXT;
    if (!atomic_load(&context->open)) {
        sim_put(context);
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    *out = context;
    return CUDA_SUCCESS;
}

CUresult sim_context_look(CUcontext handle, struct sim_context **out) {
    CUresult result = sim_ready();

    *out = NULL;
    return result != CUDA_SUCCESS ? result : sim_context_get(handle ? handle : sim_current(), out);
}

CUresult sim_enter_context(CUcontext handle, struct sim_context **out) {
    CUresult result = sim_context_look(handle, out);

    return result == CUDA_SUCCESS ? sim_context_error(*out) : result;
}

CUresult sim_enter(struct sim_context **out) {
    return sim_enter_context(NULL, out);
}

CUresult sim_context_error(struct sim_context *context) {
    CUresult error = (CUresult)atomic_load(&context->device->error);

    if (error != CUDA_SUCCESS)
        sim_print_flush(context);
    return error;
}

void sim_context_fail(struct sim_context *context, CUresult error) {
    int none = CUDA_SUCCESS;

    atomic_compare_exchange_strong(&context->device->error, &none, (int)error);
}

bool sim_good_context_flags(unsigned flags) {
    unsigned sched = flags & CU_CTX_SCHED_MASK;

    return !(flags & ~(unsigned)CU_CTX_FLAGS_MASK) && (sched & (sched - 1)) == 0;
}

CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev) {
    SIM_AUTO struct sim_context *context = NULL;
    CUresult result;

    SIM_READY();
    if (!pctx || !sim_good_context_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    context = sim_context_new(sim_device(dev));
    if (!context)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = sim_context_open(context, flags);
    if (result == CUDA_SUCCESS)
        result = sim_current_push(SIM_HANDLE(context));
    if (result != CUDA_SUCCESS)
        sim_handle_close(&context->object);
    else
        *pctx = SIM_HANDLE(context);
    return result;
}

CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
                        CUdevice dev) {
    SIM_READY();
    if (!ctxCreateParams)
        return cuCtxCreate_v2(pctx, flags, dev);
    if (ctxCreateParams->numExecAffinityParams)
        return ctxCreateParams->execAffinityParams ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
                                                   : CUDA_ERROR_INVALID_VALUE;
    if (ctxCreateParams->cigParams)
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuCtxCreate_v2(pctx, flags, dev);
}

CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
                        unsigned int flags, CUdevice dev) {
    CUctxCreateParams params = {paramsArray, numParams, NULL};

    return cuCtxCreate_v4(pctx, &params, flags, dev);
}

CUresult cuCtxDestroy_v2(CUcontext ctx) {
    SIM_AUTO struct sim_context *context = NULL;
    CUresult result;

    SIM_READY();
    result = sim_context_get(ctx, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (context->primary || context->green) /* which only its device can end, or the green one */
        return CUDA_ERROR_INVALID_CONTEXT;
    context_locals_end(ctx, context->id);
    if (!sim_handle_close(&context->object))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    sim_current_drop(ctx);
    sim_context_close(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxDestroy(CUcontext ctx) {
    return cuCtxDestroy_v2(ctx);
}

/* The calling thread's context, once more. */
CUresult cuCtxAttach(CUcontext *pctx, unsigned int flags) {
    SIM_ENTER(context);

    if (!pctx || flags)
        return CUDA_ERROR_INVALID_VALUE;
    atomic_fetch_add(&context->attached, 1);
    *pctx = SIM_HANDLE(context);
    return CUDA_SUCCESS;
}

/* Of whoever has attached to it, and in the end of who made it: it ends. */
CUresult cuCtxDetach(CUcontext ctx) {
    unsigned attached;
    SIM_ENTER(context);

    if (SIM_HANDLE(context) != ctx)
        return CUDA_ERROR_INVALID_CONTEXT;
    attached = atomic_load(&context->attached);
    while (attached)
        if (atomic_compare_exchange_weak(&context->attached, &attached, attached - 1))
            return CUDA_SUCCESS;
    return cuCtxDestroy_v2(ctx);
}

/* What libraries keep with a primary context goes before it does: if at most `last` references are
 * left. */
static void end_locals_of_primary(struct sim_device *device, unsigned last) {
    struct sim_context *context = device->primary;
    uint64_t id;
    bool ends;

    pthread_mutex_lock(&device->primary_lock);
    ends = atomic_load(&context->open) && device->primary_refs <= last;
    id = context->id;
    pthread_mutex_unlock(&device->primary_lock);
    if (ends)
        context_locals_end(SIM_HANDLE(context), id);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev) {
    struct sim_device *device = sim_device(dev);
    CUresult result = CUDA_SUCCESS;

    SIM_READY();
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&device->primary_lock);
    if (!atomic_load(&device->primary->open))
        result = sim_context_open(device->primary, device->primary_flags | CU_CTX_MAP_HOST);
    if (result == CUDA_SUCCESS)
        device->primary_refs++;
    pthread_mutex_unlock(&device->primary_lock);
    if (result == CUDA_SUCCESS)
        *pctx = SIM_HANDLE(device->primary);
    return result;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
    struct sim_device *device = sim_device(dev);
    CUresult result = CUDA_ERROR_INVALID_CONTEXT;

    SIM_READY();
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    end_locals_of_primary(device, 1);
    pthread_mutex_lock(&device->primary_lock);
    if (device->primary_refs) {
        result = CUDA_SUCCESS;
        /* It may have been reset meanwhile. */
        if (--device->primary_refs == 0 && atomic_load(&device->primary->open))
            sim_context_close(device->primary);
    }
    pthread_mutex_unlock(&device->primary_lock);
    return result;
}

/* Takes back all that the context has; who retained it must still release it. */
CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
    struct sim_device *device = sim_device(dev);

    SIM_READY();
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    end_locals_of_primary(device, UINT_MAX);
    pthread_mutex_lock(&device->primary_lock);
    if (atomic_load(&device->primary->open))
        sim_context_close(device->primary);
    device->primary_flags = 0;
    pthread_mutex_unlock(&device->primary_lock);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) {
    struct sim_device *device = sim_device(dev);

    SIM_READY();
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!sim_good_context_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&device->primary_lock);
    device->primary_flags = flags;
    device->primary->flags = flags | CU_CTX_MAP_HOST;
    pthread_mutex_unlock(&device->primary_lock);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active) {
    struct sim_device *device = sim_device(dev);

    SIM_READY();
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&device->primary_lock);
    *flags = device->primary_flags;
    *active = atomic_load(&device->primary->open);
    pthread_mutex_unlock(&device->primary_lock);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev) {
    return cuDevicePrimaryCtxRelease_v2(dev);
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev) {
    return cuDevicePrimaryCtxReset_v2(dev);
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags) {
    return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}
