// SPDX-License-Identifier: Apache-2.0
/* What belongs to a thread: its stack of contexts, and its own default stream in each of them. */
#include <stdlib.h>

#include "sim.h"

struct own_stream {
    uint64_t owner; /* the context's id */
    struct sim_stream *stream;
};

struct thread {
    CUcontext *stack;
    unsigned depth, room;
    struct own_stream *streams;
    unsigned stream_count;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static __thread struct thread *self;

static void leave(void *argument) {
    struct thread *thread = argument;

    self = NULL;
    if (sim_ready() != CUDA_SUCCESS) /* a forked child or the end: nothing can be closed */
        return;
    for (unsigned i = 0; i < thread->stream_count; i++) {
        sim_stream_close(thread->streams[i].stream);
        sim_put(thread->streams[i].stream);
    }
    free(thread->streams);
    free(thread->stack);
    free(thread);
}

static void make_key(void) {
    pthread_key_create(&key, leave);
}

/* The calling thread's state; NULL: out of memory. */
static struct thread *this_thread(void) {
    if (!self) {
        pthread_once(&once, make_key);
        self = calloc(1, sizeof(*self));
        if (self)
            pthread_setspecific(key, self);
    }
    return self;
}

CUcontext sim_current(void) {
    return self && self->depth ? self->stack[self->depth - 1] : NULL;
}

CUresult sim_current_push(CUcontext handle) {
    struct thread *thread = this_thread();

    if (!thread)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (thread->depth == thread->room) {
        unsigned room = thread->room ? thread->room * 2 : 8;
        CUcontext *more = realloc(thread->stack, room * sizeof(*more));

        if (!more)
            return CUDA_ERROR_OUT_OF_MEMORY;
        thread->stack = more;
        thread->room = room;
    }
    thread->stack[thread->depth++] = handle;
    return CUDA_SUCCESS;
}

void sim_current_drop(CUcontext handle) {
    if (handle && sim_current() == handle)
        self->depth--;
}

struct sim_stream *sim_thread_stream(struct sim_context *context) {
    struct thread *thread = this_thread();
    struct own_stream *more;

    if (!thread)
        return NULL;
    for (unsigned i = 0; i < thread->stream_count; i++)
        if (thread->streams[i].owner == context->id)
            return sim_ref(thread->streams[i].stream);
    more = realloc(thread->streams, (thread->stream_count + 1) * sizeof(*more));
    if (!more)
        return NULL;
    thread->streams = more;
    more += thread->stream_count;
    more->owner = context->id;
    more->stream = sim_stream_new(context, CU_STREAM_DEFAULT, 0);
    if (!more->stream)
        return NULL;
    thread->stream_count++;
    return sim_ref(more->stream);
}

/* A primary context may also be made current while it is not active. */
static CUresult check(CUcontext ctx) {
    SIM_AUTO struct sim_context *context = sim_handle_get(ctx, SIM_CONTEXT);

    return context ? CUDA_SUCCESS : sim_context_get(ctx, &context);
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx) {
    CUresult result;

    SIM_READY();
    result = check(ctx);
    return result == CUDA_SUCCESS ? sim_current_push(ctx) : result;
}

CUresult cuCtxPopCurrent_v2(CUcontext *pctx) {
    CUcontext top;

    SIM_READY();
    top = sim_current();
    if (!top)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (pctx)
        *pctx = top;
    self->depth--;
    return CUDA_SUCCESS;
}

/* As of old: one that the thread has already is not to be had again. */
CUresult cuCtxPushCurrent(CUcontext ctx) {
    for (unsigned i = 0; self && i < self->depth; i++)
        if (self->stack[i] == ctx)
            return CUDA_ERROR_INVALID_CONTEXT;
    return cuCtxPushCurrent_v2(ctx);
}

CUresult cuCtxPopCurrent(CUcontext *pctx) {
    return cuCtxPopCurrent_v2(pctx);
}

/* Replaces the top of the stack; NULL only takes it off. */
CUresult cuCtxSetCurrent(CUcontext ctx) {
    CUresult result = CUDA_SUCCESS;

    SIM_READY();
    if (ctx)
        result = check(ctx);
    if (result != CUDA_SUCCESS)
        return result;
    sim_current_drop(sim_current());
    return ctx ? sim_current_push(ctx) : CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *pctx) {
    SIM_READY();
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    *pctx = sim_current();
    return CUDA_SUCCESS;
}
