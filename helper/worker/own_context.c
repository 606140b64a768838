// SPDX-License-Identifier: Apache-2.0
/* Contexts: made and ended on waiter threads, since that takes long. */
#include "barrier.h"
#include "chains.h"
#include "ipc.h"
#include "memory.h"
#include "worker.h"

CUresult own_cuDevicePrimaryCtxRetain(struct worker *w, struct frame *f,
                                      struct args_cuDevicePrimaryCtxRetain *a) {
    CUdevice device;
    CUresult r = worker_device(w, a->dev, &device);

    if (r != CUDA_SUCCESS)
        return r;
    /* Flags are for a context yet to be made; ours was made ahead, without any. */
    if (a->flags && a->dev == 0 && !vcuda_load_once(&w->holds[0]))
        regions_unregistered(w);
    r = w->driver.cuDevicePrimaryCtxSetFlags_v2(device, a->flags);
    if (r != CUDA_SUCCESS && r != CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE)
        return r;
    r = w->driver.cuDevicePrimaryCtxRetain(&a->pctx, device);
    if (r == CUDA_SUCCESS) {
        f->aux = 1 + (uint64_t)a->dev;
        __atomic_fetch_add(&w->holds[a->dev], 1, __ATOMIC_RELAXED);
        regions_register(w);
    }
    return r;
}

/* Once more also what was forgotten before: calls in the context may have been made meanwhile. */
static void forget_ended(uint64_t context) {
    pending_forget_context(context);
    ipc_end_context(context);
    memory_end_context(context);
}

/*
 * The first device's primary context has gone, and with it what was registered there: contexts
 * that are left besides it use host memory, too.
 */
static void register_again(struct worker *w, uint32_t besides) {
    uint32_t made = objects_made(&w->objects, VCUDA_KIND_CONTEXT);

    if (made - objects_ended(&w->objects, VCUDA_KIND_CONTEXT) > besides)
        regions_register(w);
}

/* Our own hold on a primary context goes with the guest's last: then the driver resets it. */
CUresult own_cuDevicePrimaryCtxRelease_v2(struct worker *w, struct frame *f,
                                          struct args_cuDevicePrimaryCtxRelease_v2 *a) {
    CUdevice device;
    uint32_t holds;
    CUresult r = worker_device(w, a->dev, &device);

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    if (a->dev == 0)
        regions_unregistered(w);
    pending_forget_context(a->ctx_name);
    chains_forget(w);
    worker_forget_context();
    for (holds = vcuda_exchange(&w->holds[a->dev], 0); holds && r == CUDA_SUCCESS; holds--)
        r = w->driver.cuDevicePrimaryCtxRelease_v2(device);
    forget_ended(a->ctx_name);
    if (a->dev == 0)
        register_again(w, 1); /* its name ends after this call */
    return r;
}

CUresult own_cuDevicePrimaryCtxReset_v2(struct worker *w, struct frame *f,
                                        struct args_cuDevicePrimaryCtxReset_v2 *a) {
    CUdevice device;
    uint64_t name;
    CUresult r = worker_device(w, a->dev, &device);

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    chains_forget(w);
    r = w->driver.cuDevicePrimaryCtxReset_v2(device);
    if (r != CUDA_SUCCESS)
        return r;
    name = objects_end_primary(&w->objects, (uint64_t)a->dev);
    worker_forget_context();
    forget_ended(name);
    if (a->dev == 0) {
        regions_unregistered(w);
        register_again(w, 0);
    }
    return CUDA_SUCCESS;
}

CUresult own_cuCtxCreate_v2(struct worker *w, struct frame *f, struct args_cuCtxCreate_v2 *a) {
    CUcontext popped;
    CUdevice device;
    CUresult r = worker_device(w, a->dev, &device);

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuCtxCreate_v4(&a->pctx, NULL, a->flags, device);
    if (r != CUDA_SUCCESS)
        return r;
    /* It is current for the guest's thread, not for this one. */
    w->driver.cuCtxPopCurrent_v2(&popped);
    worker_forget_context();
    regions_register(w);
    return CUDA_SUCCESS;
}

CUresult own_cuCtxDestroy_v2(struct worker *w, struct frame *f, struct args_cuCtxDestroy_v2 *a) {
    CUresult r;

    (void)f;
    pending_forget_context(a->ctx_name);
    chains_forget(w);
    worker_forget_context();
    r = w->driver.cuCtxDestroy_v2(a->ctx);
    if (r == CUDA_SUCCESS)
        forget_ended(a->ctx_name);
    return r;
}

CUresult own_cuCtxSetFlags(struct worker *w, struct frame *f, struct args_cuCtxSetFlags *a) {
    (void)f;
    /* The driver would write files here. */
    if (a->flags & (CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE))
        return CUDA_ERROR_NOT_SUPPORTED;
    return w->driver.cuCtxSetFlags(a->flags);
}
