// SPDX-License-Identifier: Apache-2.0
#include "peer_order.h"

#include "cuda_calls.h"
#include "guest.h"

/* A stream, in its context. */
struct place {
    CUcontext context;
    CUstream stream;
};

static CUresult record(const struct place *p, CUevent *event) {
    CUcontext unused;
    CUresult r = cuCtxPushCurrent_v2(p->context);

    if (r != CUDA_SUCCESS)
        return r;
    r = cuEventCreate(event, CU_EVENT_DISABLE_TIMING);
    if (r == CUDA_SUCCESS) {
        r = cuEventRecord(*event, p->stream);
        if (r != CUDA_SUCCESS)
            cuEventDestroy_v2(*event);
    }
    cuCtxPopCurrent_v2(&unused);
    return r;
}

static CUresult wait_for(const struct place *p, CUevent event) {
    CUcontext unused;
    CUresult r = cuCtxPushCurrent_v2(p->context);

    if (r != CUDA_SUCCESS)
        return r;
    r = cuStreamWaitEvent(p->stream, event, 0);
    cuCtxPopCurrent_v2(&unused);
    return r;
}

/* What one stream is given from here on comes after what the other was given. */
static CUresult order(const struct place *first, const struct place *second) {
    CUevent event;
    CUresult r = record(first, &event);

    if (r != CUDA_SUCCESS)
        return r;
    r = wait_for(second, event);
    cuEventDestroy_v2(event);
    return r;
}

/* The copy's own place; false: there is no context to copy in. */
static bool find_own(CUstream stream, struct place *own) {
    own->stream = stream;
    return cuCtxGetCurrent(&own->context) == CUDA_SUCCESS && own->context;
}

/* Another one than the copy's. */
static bool is_another(CUcontext context, const struct place *own) {
    return context && context != own->context && context_live((uint64_t)context);
}

CUresult peer_order_before(CUcontext dst, CUcontext src, CUstream stream) {
    const struct place to = {dst, CU_STREAM_LEGACY}, from = {src, CU_STREAM_LEGACY};
    struct place own;
    CUresult r = CUDA_SUCCESS;

    if (!find_own(stream, &own))
        return CUDA_SUCCESS;
    if (is_another(src, &own))
        r = order(&from, &own);
    if (r == CUDA_SUCCESS && dst != src && is_another(dst, &own))
        r = order(&to, &own);
    return r;
}

CUresult peer_order_behind(CUcontext dst, CUcontext src, CUstream stream) {
    const struct place to = {dst, CU_STREAM_LEGACY}, from = {src, CU_STREAM_LEGACY};
    struct place own;
    CUresult r = CUDA_SUCCESS;

    if (!find_own(stream, &own))
        return CUDA_SUCCESS;
    if (is_another(src, &own))
        r = order(&own, &from);
    if (r == CUDA_SUCCESS && dst != src && is_another(dst, &own))
        r = order(&own, &to);
    return r;
}
