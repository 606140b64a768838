// SPDX-License-Identifier: Apache-2.0
/* Contexts: made and ended by the worker, current for a thread here. */
#include <stdlib.h>

#include "ahead.h"
#include "barrier.h"
#include "code.h"
#include "arena.h"
#include "capture.h"
#include "cuda_calls.h"
#include "ended.h"
#include "export/locals.h"
#include "guest.h"
#include "ipc.h"
#include "limbo.h"
#include "names.h"
#include "ranges.h"
#include "session.h"
#include "wire.h"

#define CONTEXT_FLAGS                                                                              \
    (CU_CTX_SCHED_MASK | CU_CTX_MAP_HOST | CU_CTX_LMEM_RESIZE_TO_MAX | CU_CTX_COREDUMP_ENABLE |    \
     CU_CTX_USER_COREDUMP_ENABLE | CU_CTX_SYNC_MEMOPS)

CUresult context_enter_device(struct thread **t, CUdevice dev) {
    CUresult r = guest_enter_any(t);

    if (r == CUDA_SUCCESS && (dev < 0 || dev >= session.device_count))
        r = CUDA_ERROR_INVALID_DEVICE;
    return r;
}

bool context_flags_ok(unsigned int flags) {
    unsigned int sched = flags & CU_CTX_SCHED_MASK;

    return !(flags & ~CONTEXT_FLAGS) && (sched & (sched - 1)) == 0;
}

static void take_limits(uint32_t *limits, CUdevice dev, const CUdevice_attribute *which) {
    for (int i = 0; i < 3; i++)
        limits[i] = (uint32_t)session.devices[dev].attributes[which[i]];
}

uint64_t context_new(CUdevice dev, unsigned int flags, bool primary) {
    static const CUdevice_attribute grid[] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                                              CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                              CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
    static const CUdevice_attribute block[] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                                               CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                               CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
    struct context *c = calloc(1, sizeof(*c));
    uint64_t name;

    if (!c)
        return 0;
    *c = (struct context){.device = dev, .flags = flags, .primary = primary, .inactive = primary};
    take_limits(c->grid_max, dev, grid);
    take_limits(c->block_max, dev, block);
    name = names_new(VCUDA_KIND_CONTEXT, c);
    if (name)
        ahead_begin(name, 0);
    else
        free(c);
    return name;
}

void context_end(uint64_t name) {
    struct context *c = names_get(VCUDA_KIND_CONTEXT, name);

    if (c)
        ended_note(&(struct ended){name, c->device, c->flags});
    c = names_end(VCUDA_KIND_CONTEXT, name);
    guest_changed();
    if (c)
        limbo_put(c, free);
    context_forget(name);
}

bool context_live(uint64_t context) {
    struct context *c = names_get(VCUDA_KIND_CONTEXT, context);

    return c && !vcuda_load_acquire(&c->inactive);
}

/* Puts a context on top of the thread's stack. */
static CUresult push(struct thread *t, uint64_t name) {
    if (t->depth == t->room) {
        uint32_t room = t->room ? 2 * t->room : 8;
        uint64_t *stack = realloc(t->stack, room * sizeof(*stack));

        if (!stack)
            return CUDA_ERROR_OUT_OF_MEMORY;
        t->stack = stack;
        t->room = room;
    }
    /* Only what is below the current one is stored; a thread without any stores nothing. */
    if (t->context)
        t->stack[t->depth++] = t->context;
    guest_set_context(t, name);
    return CUDA_SUCCESS;
}

static void pop(struct thread *t) {
    guest_set_context(t, t->depth ? t->stack[--t->depth] : 0);
}

VCUDA_EXPORT CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev) {
    struct thread *t;
    uint64_t name;
    CUresult r = context_enter_device(&t, dev);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pctx || !context_flags_ok(flags))
        return CUDA_ERROR_INVALID_VALUE;
    name = context_new(dev, flags, false);
    if (!name)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = wire_cuCtxCreate_v2(t, name, flags, dev);
    if (r == CUDA_SUCCESS)
        r = push(t, name);
    if (r == CUDA_SUCCESS)
        *pctx = (CUcontext)name;
    else
        context_end(name);
    return r;
}

/* A share of the multiprocessors is for clients of MPS, which no worker is. */
VCUDA_EXPORT CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *params, unsigned int flags,
                                     CUdevice dev) {
    CUresult r = guest_ready();

    if (r != CUDA_SUCCESS)
        return r;
    if (params && params->numExecAffinityParams)
        return params->execAffinityParams ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
                                          : CUDA_ERROR_INVALID_VALUE;
    if (params && params->cigParams)
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuCtxCreate_v2(pctx, flags, dev);
}

VCUDA_EXPORT CUresult cuCtxDestroy_v2(CUcontext ctx) {
    uint64_t name = (uint64_t)ctx;
    struct context *c;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!ctx)
        return CUDA_ERROR_INVALID_VALUE;
    c = names_get(VCUDA_KIND_CONTEXT, name);
    if (!c || c->primary || c->green)
        return CUDA_ERROR_INVALID_CONTEXT;
    context_locals_end((CUcontext)name, name);
    r = wire_cuCtxDestroy_v2(t, name);
    context_end(name);
    if (t->context == name)
        pop(t);
    return r;
}

/* Natively one that has ended may become current too: calls then say that it is destroyed. */
static CUresult check_for_current(CUcontext ctx) {
    CUresult r = guest_check(VCUDA_KIND_CONTEXT, ctx);

    return r == CUDA_ERROR_CONTEXT_IS_DESTROYED ? CUDA_SUCCESS : r;
}

VCUDA_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext ctx) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS)
        r = ctx ? check_for_current(ctx) : CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? push(t, (uint64_t)ctx) : r;
}

VCUDA_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *pctx) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!t->context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (pctx)
        *pctx = (CUcontext)t->context;
    pop(t);
    return CUDA_SUCCESS;
}

/* Replaces the top of the stack; NULL takes it off. */
VCUDA_EXPORT CUresult cuCtxSetCurrent(CUcontext ctx) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!ctx) {
        pop(t);
        return CUDA_SUCCESS;
    }
    r = check_for_current(ctx);
    if (r == CUDA_SUCCESS)
        guest_set_context(t, (uint64_t)ctx);
    return r;
}

VCUDA_EXPORT CUresult cuCtxGetCurrent(CUcontext *pctx) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    *pctx = (CUcontext)t->context;
    return CUDA_SUCCESS;
}

/* What is told of a context (0: the current one) without asking: also of one that has ended. */
static CUresult known(uint64_t name, struct ended *what) {
    const struct context *c;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!name)
        name = t->context;
    c = names_get(VCUDA_KIND_CONTEXT, name);
    if (!c)
        return ended_find(name, what) ? CUDA_SUCCESS
                                      : guest_check(VCUDA_KIND_CONTEXT, (void *)name);
    *what = (struct ended){name, c->device, c->flags};
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
    return cuCtxGetDevice_v2(device, NULL);
}

/* NULL means the current context. */
VCUDA_EXPORT CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx) {
    struct ended what;
    CUresult r = known((uint64_t)ctx, &what);

    if (r == CUDA_SUCCESS && !device)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *device = what.device;
    return r;
}

/* The driver adds flags of its own, as long as it can be asked. */
VCUDA_EXPORT CUresult cuCtxGetFlags(unsigned int *flags) {
    struct ended what;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r == CUDA_SUCCESS)
        return flags ? wire_cuCtxGetFlags(t, flags) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        r = known(0, &what);
    if (r == CUDA_SUCCESS && !flags)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *flags = what.flags;
    return r;
}

/* It stays as it is as long as the context lives; after a fault the driver has the word. */
static CUresult context_id(struct thread *t, uint64_t name, uint64_t *id) {
    struct context *c = names_get(VCUDA_KIND_CONTEXT, name);
    CUresult r;

    *id = c ? vcuda_load_once(&c->id) : 0;
    if (*id && !vcuda_load_once(&c->sticky))
        return CUDA_SUCCESS;
    r = wire_cuCtxGetId(t, name, id);
    if (r == CUDA_SUCCESS && c)
        vcuda_store_once(&c->id, *id);
    return r;
}

VCUDA_EXPORT CUresult cuCtxGetId(CUcontext ctx, unsigned long long *ctxId) {
    struct thread *t;
    CUresult r = ctx ? guest_enter_any(&t) : guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!ctxId)
        return CUDA_ERROR_INVALID_VALUE;
    if (ctx && (r = guest_check(VCUDA_KIND_CONTEXT, ctx)) != CUDA_SUCCESS)
        return r;
    return context_id(t, ctx ? (uint64_t)ctx : t->context, (uint64_t *)ctxId);
}

/*
 * Without other streams all is in the default one, for which the worker has the shorter wait. Once
 * there was one, waiting in the default stream would hold up others' work, and not see all of it.
 */
CUresult context_wait(struct thread *t) {
    return stream_any_made() || capture_any() ? wire_cuCtxSynchronize(t)
                                              : wire_cuStreamSynchronize(t, 0);
}

VCUDA_EXPORT CUresult cuCtxSynchronize(void) {
    struct thread *t;
    CUresult r = guest_enter(&t);

    return r == CUDA_SUCCESS ? context_wait(t) : r;
}

VCUDA_EXPORT CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r == CUDA_SUCCESS)
        r = wire_cuCtxSetCacheConfig(t, (int32_t)config);
    if (r == CUDA_SUCCESS)
        occupancy_forget();
    return r;
}

/* Only here one that has ended is as wrong as any. */
VCUDA_EXPORT CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version) {
    struct thread *t;
    CUresult r = ctx ? guest_enter_any(&t) : guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    if (ctx && !names_get(VCUDA_KIND_CONTEXT, (uint64_t)ctx))
        return CUDA_ERROR_INVALID_CONTEXT;
    return wire_cuCtxGetApiVersion(t, ctx ? (uint64_t)ctx : t->context, version);
}

static int event_is_of(const void *object, const void *arg) {
    return ((const struct event *)object)->context == *(const uint64_t *)arg;
}

static void forget_event(void *event) {
    limbo_put(event, free);
}

void context_forget(uint64_t name) {
    limbo_empty(LIMBO_NS);
    names_end_if(VCUDA_KIND_STREAM, stream_is_of, &name, stream_forget);
    capture_forget_ended();
    names_end_if(VCUDA_KIND_EVENT, event_is_of, &name, forget_event);
    code_forget_context(name);
    ipc_forget(name);
    ranges_forget(name);
    arena_forget(name);
}
