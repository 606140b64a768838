// SPDX-License-Identifier: Apache-2.0
/*
 * Green contexts: contexts that have some of the multiprocessors, and the primary context's memory.
 * On the CPU a share changes what a kernel is told and how large a cooperative launch may be.
 */
#include "green.h"

#include <stdlib.h>

struct green {
    struct sim_object object;
    struct sim_context *context; /* which stands for it */
    struct sim_share share;
};

static void destroy_green(struct sim_object *object) {
    sim_put(((struct green *)object)->context);
    free(object);
}

static CUresult get(CUgreenCtx handle, struct green **out) {
    CUresult result = sim_ready();

    *out = result == CUDA_SUCCESS ? sim_handle_get(handle, SIM_GREEN) : NULL;
    if (result != CUDA_SUCCESS || *out)
        return result;
    return sim_handle_stale(handle, SIM_GREEN) ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                               : CUDA_ERROR_INVALID_CONTEXT;
}

#define GREEN(name, handle)                                                                        \
    SIM_AUTO struct green *name = NULL;                                                            \
    CUresult name##_error = get(handle, &name);                                                    \
    if (name##_error != CUDA_SUCCESS)                                                              \
    return name##_error

static struct green *new_green(struct sim_device *device, const struct sim_share *share) {
    struct green *green = calloc(1, sizeof(*green));

    if (!green)
        return NULL;
    sim_object_init(&green->object, SIM_GREEN, destroy_green);
    green->share = *share;
    green->context = sim_context_new(device);
    if (green->context && sim_handle_open(&green->object))
        return green;
    if (green->context)
        sim_handle_close(&green->context->object);
    sim_put(green);
    return NULL;
}

CUresult cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev,
                          unsigned int flags) {
    struct sim_context *context;
    struct sim_share share;
    struct green *green;
    CUcontext primary;
    CUresult result;
    SIM_READY();

    if (!phCtx || flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    result = sim_share_of_desc(desc, &share);
    if (result == CUDA_SUCCESS && share.device != dev)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = cuDevicePrimaryCtxRetain(&primary, dev);
    if (result != CUDA_SUCCESS)
        return result;
    green = new_green(sim_device(dev), &share);
    if (!green) {
        cuDevicePrimaryCtxRelease_v2(dev);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    context = green->context;
    context->green = SIM_HANDLE(green);
    context->sm_count = sim_share_count(&share);
    result = sim_context_open(context, 0);
    if (result == CUDA_SUCCESS) {
        context->home = sim_device(dev)->primary->id;
        *phCtx = SIM_HANDLE(green);
    } else {
        sim_handle_close(&context->object);
        sim_handle_close(&green->object);
        cuDevicePrimaryCtxRelease_v2(dev);
    }
    sim_put(green); /* its handle holds it */
    return result;
}

CUresult cuGreenCtxDestroy(CUgreenCtx hCtx) {
    GREEN(green, hCtx);

    if (!sim_handle_close(&green->object))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    sim_handle_close(&green->context->object);
    sim_current_drop(SIM_HANDLE(green->context));
    sim_context_close(green->context);
    return cuDevicePrimaryCtxRelease_v2(green->context->device->ordinal);
}

CUresult cuCtxFromGreenCtx(CUcontext *pContext, CUgreenCtx hCtx) {
    GREEN(green, hCtx);

    if (!pContext)
        return CUDA_ERROR_INVALID_VALUE;
    *pContext = SIM_HANDLE(green->context);
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource *resource,
                                  CUdevResourceType type) {
    GREEN(green, hCtx);

    return resource ? sim_share_tell(&green->share, type, resource) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxGetDevResource(CUcontext hCtx, CUdevResource *resource, CUdevResourceType type) {
    SIM_AUTO struct sim_context *context = NULL;
    struct sim_share all;
    CUresult result = sim_context_look(hCtx, &context);

    if (result == CUDA_SUCCESS && !resource)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    if (context->green)
        return cuGreenCtxGetDevResource(context->green, resource, type);
    all = sim_share_all(context->device);
    return sim_share_tell(&all, type, resource);
}

CUresult cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long *greenCtxId) {
    GREEN(green, greenCtx);

    if (!greenCtxId)
        return CUDA_ERROR_INVALID_VALUE;
    *greenCtxId = green->context->id;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxStreamCreate(CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags,
                                int priority) {
    GREEN(green, greenCtx);

    if (flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_stream_create(green->context, phStream, flags, priority);
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent) {
    SIM_AUTO struct sim_event *event = NULL;
    GREEN(green, hCtx);
    CUresult result = sim_event_get(hEvent, &event);

    return result == CUDA_SUCCESS ? sim_context_record(green->context, event) : result;
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent) {
    SIM_AUTO struct sim_event *event = NULL;
    GREEN(green, hCtx);
    CUresult result = sim_event_get(hEvent, &event);

    return result == CUDA_SUCCESS ? sim_context_wait_event(green->context, event) : result;
}

/* NULL: the stream is of no green context. */
CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx *phCtx) {
    SIM_AUTO struct sim_stream *stream = NULL;
    CUresult result = sim_stream_look(hStream, false, &stream);

    if (result == CUDA_SUCCESS && !phCtx)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *phCtx = stream->context->green;
    return result;
}

static CUresult get_contexts(CUstream handle, bool per_thread, CUcontext *context,
                             CUgreenCtx *green) {
    SIM_AUTO struct sim_stream *stream = NULL;
    CUresult result = sim_stream_look(handle, per_thread, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (context)
        *context = SIM_HANDLE(stream->context);
    if (green)
        *green = stream->context->green;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx) {
    return get_contexts(hStream, false, pCtx, pGreenCtx);
}

CUresult cuStreamGetCtx_v2_ptsz(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx) {
    return get_contexts(hStream, true, pCtx, pGreenCtx);
}
