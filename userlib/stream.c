// SPDX-License-Identifier: Apache-2.0
/* Streams. Named here, so that making and ending one is posted, as far as neither waits. */
#include <stdlib.h>

#include "ahead.h"
#include "capture.h"
#include "barrier.h"
#include "cuda_calls.h"
#include "graph_host.h"
#include "guest.h"
#include "hostfunc.h"
#include "limbo.h"
#include "wire.h"

/*
 * The per-thread default stream is a real one, made at first use: the worker's threads are not the
 * program's.
 */
struct own_stream {
    struct own_stream *next;
    uint64_t context;
    uint64_t name;
};

/* While fewer live, the driver makes one at once (seen: the 34th waits for kernels that run). */
#define POSTED_STREAMS 16u

static uint32_t live_streams;
static uint32_t any_made;

bool stream_any_made(void) {
    return vcuda_load_acquire(&any_made);
}

int stream_is_of(const void *stream, const void *context) {
    return ((const struct stream *)stream)->context == *(const uint64_t *)context;
}

void stream_free(void *stream) {
    if (stream)
        __atomic_fetch_sub(&live_streams, 1, __ATOMIC_RELAXED);
    free(stream);
}

void stream_forget(void *stream) {
    __atomic_fetch_sub(&live_streams, 1, __ATOMIC_RELAXED);
    limbo_put(stream, free);
}

/* Posted where the worker need not wait in the driver; else a thread of the worker's own waits. */
static CUresult send_creation(struct thread *t, uint32_t live, uint64_t name, unsigned int flags,
                              int priority) {
    return live < POSTED_STREAMS ? wire_cuStreamCreateWithPriority(t, name, flags, priority)
                                 : wire_stream_create(t, name, flags, priority);
}

uint64_t stream_new(uint64_t context, unsigned int flags) {
    struct stream *s = calloc(1, sizeof(*s));
    uint64_t name;

    if (!s)
        return 0;
    *s = (struct stream){context, flags};
    vcuda_store_release(&any_made, 1);
    __atomic_fetch_add(&live_streams, 1, __ATOMIC_RELAXED);
    name = names_new(VCUDA_KIND_STREAM, s);
    if (name)
        ahead_begin(context, name);
    else
        stream_free(s);
    return name;
}

static CUresult make_stream(struct thread *t, unsigned int flags, int priority, uint64_t *name) {
    uint32_t live = vcuda_load_once(&live_streams);
    CUresult r;

    *name = stream_new(t->context, flags);
    if (!*name)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = send_creation(t, live, *name, flags, priority);
    if (r != CUDA_SUCCESS)
        stream_free(names_end(VCUDA_KIND_STREAM, *name));
    return r;
}

/* A place for one more: of a stream that ended with its context, or a new one. */
static struct own_stream *own_place(struct thread *t) {
    struct own_stream *o;

    for (o = t->own_streams; o && names_get(VCUDA_KIND_STREAM, o->name); o = o->next)
        ;
    if (o)
        return o;
    o = calloc(1, sizeof(*o));
    if (!o)
        return NULL;
    o->next = t->own_streams;
    t->own_streams = o;
    return o;
}

static CUresult own_stream(struct thread *t, uint64_t *name) {
    struct own_stream *o;
    CUresult r;

    for (o = t->own_streams; o; o = o->next) {
        if (o->context == t->context && names_get(VCUDA_KIND_STREAM, o->name)) {
            *name = o->name;
            return CUDA_SUCCESS;
        }
    }
    o = own_place(t);
    if (!o)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = make_stream(t, CU_STREAM_DEFAULT, 0, name);
    if (r != CUDA_SUCCESS)
        return r;
    o->context = t->context;
    o->name = *name;
    return CUDA_SUCCESS;
}

static void end_stream(struct thread *t, uint64_t name) {
    struct stream *s = names_retire(VCUDA_KIND_STREAM, name);

    if (s) {
        wire_cuStreamDestroy_v2(t, name);
        capture_forget_ended();
        names_reuse(VCUDA_KIND_STREAM, name);
        stream_free(s);
    }
}

void stream_forget_thread(struct thread *t) {
    while (t->own_streams) {
        struct own_stream *o = t->own_streams;

        t->own_streams = o->next;
        if (guest_ready() == CUDA_SUCCESS)
            end_stream(t, o->name);
        free(o);
    }
}

CUresult stream_resolve_other(struct thread *t, CUstream stream, uint64_t *name,
                              uint64_t *context) {
    *context = t->context;
    *name = 0;
    if (!stream || stream == CU_STREAM_LEGACY)
        return CUDA_SUCCESS;
    return stream == CU_STREAM_PER_THREAD ? own_stream(t, name) : CUDA_ERROR_INVALID_HANDLE;
}

VCUDA_EXPORT CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags,
                                                 int priority) {
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!phStream || flags & ~CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    r = make_stream(t, flags, priority, &name);
    if (r == CUDA_SUCCESS)
        *phStream = (CUstream)name;
    return r;
}

VCUDA_EXPORT CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags) {
    return cuStreamCreateWithPriority(phStream, Flags, 0);
}

VCUDA_EXPORT CUresult cuStreamDestroy_v2(CUstream hStream) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_STREAM, hStream);
    if (r != CUDA_SUCCESS)
        return r;
    end_stream(t, (uint64_t)hStream);
    return guest_fault(t);
}

VCUDA_EXPORT CUresult cuStreamSynchronize(CUstream hStream) {
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    return r == CUDA_SUCCESS ? wire_cuStreamSynchronize(t, name) : r;
}

/*
 * Natively permitted inside a host function, for a stream that the program made. Of the function's
 * own the answer is known, and the worker is not asked: it may stand in the driver, in a launch
 * that waits for the function.
 */
static CUresult query_inside(CUstream hStream) {
    const struct stream *s = names_get(VCUDA_KIND_STREAM, (uint64_t)hStream);
    struct thread *t, there;
    CUresult r;

    if (!s)
        return CUDA_ERROR_NOT_PERMITTED;
    if (hostfunc_runs_in(hStream, &r))
        return r;
    r = guest_enter_even_inside(&t);
    if (r != CUDA_SUCCESS)
        return r;
    there = *t;
    guest_set_context(&there, s->context);
    return wire_cuStreamQuery(&there, (uint64_t)hStream);
}

VCUDA_EXPORT CUresult cuStreamQuery(CUstream hStream) {
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r == CUDA_ERROR_NOT_PERMITTED)
        return query_inside(hStream);
    return r == CUDA_SUCCESS ? wire_cuStreamQuery(t, name) : r;
}

VCUDA_EXPORT CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_EVENT, hEvent);
    if (r == CUDA_SUCCESS && Flags & ~CU_EVENT_WAIT_EXTERNAL)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && Flags && !capture_graph(t, name)) /* a node's affair */
        r = CUDA_ERROR_ILLEGAL_STATE;
    return r == CUDA_SUCCESS ? wire_cuStreamWaitEvent(t, name, (uint64_t)hEvent, Flags) : r;
}

VCUDA_EXPORT CUresult cuStreamGetPriority(CUstream hStream, int *priority) {
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r == CUDA_SUCCESS && !priority)
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? wire_cuStreamGetPriority(t, name, priority) : r;
}

VCUDA_EXPORT CUresult cuStreamGetFlags(CUstream hStream, unsigned int *flags) {
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r == CUDA_SUCCESS && !flags)
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? wire_cuStreamGetFlags(t, name, flags) : r;
}

VCUDA_EXPORT CUresult cuStreamGetId(CUstream hStream, unsigned long long *streamId) {
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r == CUDA_SUCCESS && !streamId)
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? wire_cuStreamGetId(t, name, (uint64_t *)streamId) : r;
}

VCUDA_EXPORT CUresult cuStreamGetCtx(CUstream hStream, CUcontext *pctx) {
    struct thread *t;
    uint64_t name, context;
    CUresult r = guest_enter_about(&t, VCUDA_KIND_STREAM, hStream);

    if (r == CUDA_SUCCESS)
        r = stream_resolve(t, hStream, &name, &context);
    if (r == CUDA_SUCCESS && !pctx)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *pctx = (CUcontext)context;
    return r;
}

VCUDA_EXPORT CUresult cuStreamGetDevice(CUstream hStream, CUdevice *device) {
    struct thread *t;
    struct context *c;
    uint64_t name, context;
    CUresult r = guest_enter_about(&t, VCUDA_KIND_STREAM, hStream);

    if (r == CUDA_SUCCESS)
        r = stream_resolve(t, hStream, &name, &context);
    if (r == CUDA_SUCCESS && !device)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    c = names_get(VCUDA_KIND_CONTEXT, context);
    if (!c)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *device = c->device;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuStreamDestroy(CUstream hStream) {
    return cuStreamDestroy_v2(hStream);
}

VCUDA_EXPORT CUresult cuStreamCopyAttributes(CUstream dstStream, CUstream srcStream) {
    struct thread *t;
    uint64_t dst, src;
    CUresult r = guest_enter_stream(&t, dstStream, &dst);

    if (r == CUDA_SUCCESS)
        r = guest_enter_stream(&t, srcStream, &src);
    return r == CUDA_SUCCESS ? wire_cuStreamCopyAttributes(t, dst, src) : r;
}

/* What is captured is called again and again, until its end is told. */
static CUresult launch_host(struct thread *t, uint64_t stream, uint64_t id, bool callback) {
    uint64_t end = id && !callback && capture_any() ? hostfunc_register_end(id) : 0;
    uint32_t captured = 0;
    CUresult r =
        id ? wire_launch_host(t, stream, id, end, callback, &captured) : CUDA_ERROR_OUT_OF_MEMORY;

    if (r != CUDA_SUCCESS || !captured)
        hostfunc_drop(end);
    if (r != CUDA_SUCCESS)
        hostfunc_drop(id);
    return r;
}

VCUDA_EXPORT CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData) {
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r == CUDA_SUCCESS && !fn)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = launch_host(
            t, name, hostfunc_register_launch(fn, hStream, userData, graph_host_last_in(t, name)),
            false);
    return r;
}

VCUDA_EXPORT CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback,
                                          void *userData, unsigned int flags) {
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r == CUDA_SUCCESS && (!callback || flags))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = launch_host(
            t, name,
            hostfunc_register_callback(callback, hStream, userData, graph_host_last_in(t, name)),
            true);
    return r;
}
