// SPDX-License-Identifier: Apache-2.0
/* Calls on contexts in their other versions. */
#include "barrier.h"
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
        guest_set_context(&other, (uint64_t)ctx);
    return context_live(other.context) ? context_wait(&other) : CUDA_ERROR_CONTEXT_IS_DESTROYED;
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

static int is_live_on(const void *object, const void *arg) {
    const struct context *c = object;

    return c->device == *(const CUdevice *)arg && !vcuda_load_acquire(&c->inactive);
}

/*
 * A context of CUDA 3.1 has addresses of 32 bits. The driver makes one as a device's first, and has
 * no memory for it once there is another.
 */
VCUDA_EXPORT CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev) {
    struct thread *t;
    CUresult r = context_enter_device(&t, dev);

    if (r != CUDA_SUCCESS)
        return r;
    if (pctx && names_any(VCUDA_KIND_CONTEXT, is_live_on, &dev))
        return CUDA_ERROR_OUT_OF_MEMORY;
    return cuCtxCreate_v2(pctx, flags, dev);
}

VCUDA_EXPORT CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray,
                                     int numParams, unsigned int flags, CUdevice dev) {
    CUctxCreateParams params = {paramsArray, numParams, NULL};

    return cuCtxCreate_v4(pctx, &params, flags, dev);
}

/* Tells of one that has ended that it has. */
VCUDA_EXPORT CUresult cuCtxDestroy(CUcontext ctx) {
    CUresult r = guest_ready();

    if (r == CUDA_SUCCESS && names_ended(VCUDA_KIND_CONTEXT, (uint64_t)ctx))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return r == CUDA_SUCCESS ? cuCtxDestroy_v2(ctx) : r;
}

static bool is_on_stack(const struct thread *t, uint64_t context) {
    for (uint32_t i = 0; i < t->depth; i++) {
        if (t->stack[i] == context)
            return true;
    }
    return t->context == context;
}

/* In CUDA 3.1 a context is current once: only one that was popped can be pushed again. */
VCUDA_EXPORT CUresult cuCtxPushCurrent(CUcontext ctx) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS && ctx && is_on_stack(t, (uint64_t)ctx))
        return CUDA_ERROR_INVALID_CONTEXT;
    return r == CUDA_SUCCESS ? cuCtxPushCurrent_v2(ctx) : r;
}

VCUDA_EXPORT CUresult cuCtxPopCurrent(CUcontext *pctx) {
    return cuCtxPopCurrent_v2(pctx);
}

/* A context's making counts as one, and each attachment as one more. */
VCUDA_EXPORT CUresult cuCtxAttach(CUcontext *pctx, unsigned int flags) {
    struct context *c;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    c = names_get(VCUDA_KIND_CONTEXT, t->context);
    if (!pctx || flags || !c)
        return CUDA_ERROR_INVALID_VALUE;
    __atomic_fetch_add(&c->attached, 1, __ATOMIC_RELAXED);
    *pctx = (CUcontext)t->context;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuCtxDetach(CUcontext ctx) {
    struct context *c;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    c = names_get(VCUDA_KIND_CONTEXT, (uint64_t)ctx);
    if (!c || t->context != (uint64_t)ctx)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!vcuda_load_once(&c->attached))
        return cuCtxDestroy_v2(ctx);
    __atomic_fetch_sub(&c->attached, 1, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

/* A GPU's dump, and the policy for it, would be the host's. */
VCUDA_EXPORT CUresult cuCtxSetFlags(unsigned int flags) {
    const unsigned int dumps = CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE;
    struct context *c;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (flags & dumps)
        return CUDA_ERROR_NOT_SUPPORTED;
    r = wire_cuCtxSetFlags(t, flags);
    c = names_get(VCUDA_KIND_CONTEXT, t->context);
    if (r == CUDA_SUCCESS && c)
        c->flags = flags;
    return r;
}

/* The result has 32 bits. */
VCUDA_EXPORT CUresult cuDeviceTotalMem(unsigned int *bytes, CUdevice dev) {
    size_t all;
    CUresult r = bytes ? cuDeviceTotalMem_v2(&all, dev) : CUDA_ERROR_INVALID_VALUE;

    if (r == CUDA_SUCCESS)
        *bytes = all > UINT32_MAX ? UINT32_MAX : (unsigned int)all;
    return r;
}
