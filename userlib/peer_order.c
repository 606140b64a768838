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

/* With the default stream of a context that is another one than the copy's, and is there. */
static CUresult order_with(CUcontext context, const struct place *own, bool behind) {
    const struct place other = {context, CU_STREAM_LEGACY};

    if (!context || context == own->context || !context_live((uint64_t)context))
        return CUDA_SUCCESS;
    return behind ? order(own, &other) : order(&other, own);
}

static CUresult order_both(CUcontext dst, CUcontext src, CUstream stream, bool behind) {
    struct place own = {NULL, stream};
    CUresult r;

    if (cuCtxGetCurrent(&own.context) != CUDA_SUCCESS || !own.context)
        return CUDA_SUCCESS;
    r = order_with(src, &own, behind);
    return r == CUDA_SUCCESS && dst != src ? order_with(dst, &own, behind) : r;
}

CUresult peer_order_before(CUcontext dst, CUcontext src, CUstream stream) {
    return order_both(dst, src, stream, false);
}

CUresult peer_order_behind(CUcontext dst, CUcontext src, CUstream stream) {
    return order_both(dst, src, stream, true);
}
