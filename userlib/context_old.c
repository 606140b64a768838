// SPDX-License-Identifier: Apache-2.0
/* Calls on contexts in their other versions. */
#include "cuda_calls.h"
#include "guest.h"
#include "wire.h"

/* In another context than the thread's, which it stays in. */
VCUDA_EXPORT CUresult cuCtxSynchronize_v2(CUcontext ctx) {
    struct thread *t, other;
    CUresult r = ctx ? guest_enter_any(&t) : guest_enter(&t);

    if (r == CUDA_SUCCESS && ctx)
        r = guest_check(VCUDA_KIND_CONTEXT, ctx);
    if (r != CUDA_SUCCESS)
        return r;
    other = *t;
    if (ctx)
        other.context = (uint64_t)ctx;
    return context_live(other.context) ? wire_cuCtxSynchronize(&other)
                                       : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

VCUDA_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice dev) {
    return cuDevicePrimaryCtxRelease_v2(dev);
}

VCUDA_EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice dev) {
    return cuDevicePrimaryCtxReset_v2(dev);
}

VCUDA_EXPORT CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags) {
    return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

VCUDA_EXPORT CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev) {
    return cuCtxCreate_v2(pctx, flags, dev);
}

VCUDA_EXPORT CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray,
                                     int numParams, unsigned int flags, CUdevice dev) {
    CUctxCreateParams params = {paramsArray, numParams, NULL};

    return cuCtxCreate_v4(pctx, &params, flags, dev);
}

VCUDA_EXPORT CUresult cuCtxDestroy(CUcontext ctx) {
    return cuCtxDestroy_v2(ctx);
}

VCUDA_EXPORT CUresult cuCtxPushCurrent(CUcontext ctx) {
    return cuCtxPushCurrent_v2(ctx);
}

VCUDA_EXPORT CUresult cuCtxPopCurrent(CUcontext *pctx) {
    return cuCtxPopCurrent_v2(pctx);
}
