// SPDX-License-Identifier: Apache-2.0
/* cuInit, the state of process and threads, fork and exit. */
#define _GNU_SOURCE
#include "guest.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "barrier.h"
#include "capture.h"
#include "counters.h"
#include "cuda_calls.h"
#include "environment.h"
#include "register.h"
#include "rpc.h"
#include "session.h"

uint32_t guest_state = GUEST_NEW;
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
__thread struct thread *guest_caller;
static uint32_t threads; /* that there have been */
static __thread struct thread *this_thread;
static __thread bool inside_host_function;

static void forget_thread(void *arg) {
    struct thread *t = arg;

    stream_forget_thread(t);
    capture_forget_thread(t);
    free(t->stack);
    free(t);
    this_thread = guest_caller = NULL;
}

static void make_key(void) {
    pthread_key_create(&thread_key, forget_thread);
}

struct thread *guest_thread(void) {
    if (!this_thread) {
        struct thread *t = calloc(1, sizeof(*t));

        if (!t)
            return NULL;
        t->number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
        t->until_counted = 1;
        pthread_once(&thread_once, make_key);
        pthread_setspecific(thread_key, t);
        this_thread = t;
        guest_inside_host_function(inside_host_function);
    }
    return this_thread;
}

void guest_inside_host_function(bool inside) {
    inside_host_function = inside;
    guest_caller = inside ? NULL : this_thread;
}

static CUresult process_ready(void) {
    switch (vcuda_load_acquire(&guest_state)) {
    case GUEST_READY:
        return rpc_lost() ? VCUDA_ERROR_LOST : CUDA_SUCCESS;
    case GUEST_LEFT:
        return CUDA_ERROR_DEINITIALIZED;
    default: /* a child of fork has no session, and cannot make one, as native */
        return CUDA_ERROR_NOT_INITIALIZED;
    }
}

CUresult guest_ready(void) {
    return inside_host_function ? CUDA_ERROR_NOT_PERMITTED : process_ready();
}

CUresult guest_enter_even_inside(struct thread **t) {
    CUresult r = process_ready();

    if (r != CUDA_SUCCESS)
        return r;
    *t = guest_thread();
    if (!*t)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if ((*t)->lent) {
        (*t)->lent = false;
        guest_set_context(*t, 0);
    }
    return CUDA_SUCCESS;
}

CUresult guest_enter_any(struct thread **t) {
    return inside_host_function ? CUDA_ERROR_NOT_PERMITTED : guest_enter_even_inside(t);
}

CUresult guest_enter_slowly(struct thread **t) {
    uint64_t changes = vcuda_load_acquire(&guest_changes); /* before what they may change */
    CUresult r;

    *t = NULL;
    r = guest_enter_any(t);
    if (r != CUDA_SUCCESS)
        return r;
    if (!(*t)->context)
        return CUDA_ERROR_INVALID_CONTEXT;
    (*t)->now = names_get(VCUDA_KIND_CONTEXT, (*t)->context);
    if (!(*t)->now || vcuda_load_acquire(&(*t)->now->inactive))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    (*t)->entered = changes;
    return CUDA_SUCCESS;
}

CUresult guest_fault(const struct thread *t) {
    struct context *c = names_get(VCUDA_KIND_CONTEXT, t->context);

    return c ? (CUresult)vcuda_load_once(&c->sticky) : CUDA_SUCCESS;
}

CUresult guest_check(enum vcuda_kind kind, const void *handle) {
    /* The worker knows which of its names live. */
    if (kind >= VCUDA_KIND_OF_WORKER && vcuda_name_kind((uint64_t)handle) == kind)
        return CUDA_SUCCESS;
    if (kind < VCUDA_KIND_OF_WORKER && names_get(kind, (uint64_t)handle))
        return CUDA_SUCCESS;
    if (kind == VCUDA_KIND_CONTEXT && names_ended(kind, (uint64_t)handle))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (kind == VCUDA_KIND_CONTEXT || kind == VCUDA_KIND_GREEN)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (kind > VCUDA_KIND_MIPMAP) /* no array, nor what the guest names */
        return CUDA_ERROR_INVALID_VALUE;
    /* As the driver says, whether the event ended itself or its context did. */
    if (kind == VCUDA_KIND_EVENT && names_ended(kind, (uint64_t)handle))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return CUDA_ERROR_INVALID_HANDLE;
}

CUstream guest_per_thread(CUstream stream) {
    return stream ? stream : CU_STREAM_PER_THREAD;
}

int guest_device_count(void) {
    return session.device_count;
}

/*
 * The child shares neither rings nor arena (they are not mapped in it) and must not keep the
 * session open after its parent is gone.
 */
static void before_fork(void) {
    register_before_fork();
}

static void in_parent(void) {
    register_after_fork(false);
}

static void in_child(void) {
    register_after_fork(true);
    if (guest_state == GUEST_READY) {
        session.transport.close(&session.transport);
        vcuda_store_release(&guest_state, GUEST_FORKED);
        guest_changed();
    }
    pthread_mutex_init(&init_lock, NULL);
}

/*
 * At exit no call is served any more. As with the driver this comes at the end of what was begun
 * after cuInit: a runtime or a library that was there before finds us gone, and what kernels print
 * that nobody waited for is not seen.
 */
static void leave(void) {
    if (vcuda_load_acquire(&guest_state) != GUEST_READY)
        return;
    vcuda_store_release(&guest_state, GUEST_LEFT);
    guest_changed();
    counters_print(session.transport.kind);
}

static CUresult init_once(void) {
    CUresult r;

    if (guest_state == GUEST_READY)
        return CUDA_SUCCESS;
    if (guest_state != GUEST_NEW)
        return guest_ready();
    environment_read();
    counters_start();
    r = session_open();
    if (r != CUDA_SUCCESS)
        return r;
    pthread_atfork(before_fork, in_parent, in_child);
    atexit(leave);
    vcuda_store_release(&guest_state, GUEST_READY);
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuInit(unsigned int Flags) {
    CUresult r;

    if (Flags)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&init_lock);
    r = init_once();
    pthread_mutex_unlock(&init_lock);
    return r;
}
