/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process' view of CUDA: the session, its devices, each thread's contexts.
 */
#ifndef VCUDA_USERLIB_GUEST_H
#define VCUDA_USERLIB_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barrier.h"
#include "cuda_types.h"
#include "likely.h"
#include "names.h"

#define VCUDA_EXPORT __attribute__((visibility("default")))

/* What every call gets once the session is lost (worker or transport gone): sticky, as a fault. */
#define VCUDA_ERROR_LOST CUDA_ERROR_LAUNCH_FAILED

struct own_stream;
struct capture_lists;

/* A thread of the program. */
struct thread {
    uint32_t number;     /* which thread this is, of all that the process had */
    uint64_t context;    /* name of the current context, or 0 */
    struct context *now; /* it, while nothing has changed since guest_enter() found it */
    uint64_t entered;    /* guest_changes at that time, or 0 */
    uint32_t depth;      /* of the stack below it */
    uint32_t room;
    bool lent; /* the current context is lent, for one call (lend.c) */
    uint64_t *stack;
    uint32_t until_counted;         /* calls that it may post until these are counted (ahead.h) */
    struct own_stream *own_streams; /* its per-thread default streams, one a context */
    CUstreamCaptureMode capture_mode;
    struct capture_lists *capture_lists; /* what it was last told of a capture */
};

/* This thread's state; made at its first call. NULL: out of memory. */
struct thread *guest_thread(void);

/* 0 when the driver is initialised in this process, else the error that every call gives. */
CUresult guest_ready(void);

/* While this thread runs a host function, hardly any call is permitted. */
void guest_inside_host_function(bool inside);

/* What calls start with that do not need a context. The thread is stored in *t. */
CUresult guest_enter_any(struct thread **t);

/* The same for the few that are permitted inside a host function too. */
CUresult guest_enter_even_inside(struct thread **t);

/* The error of a fault in the thread's context, which every call gives since; or CUDA_SUCCESS. */
CUresult guest_fault(const struct thread *t);

/* The error for a handle that is none of ours, or CUDA_SUCCESS. */
CUresult guest_check(enum vcuda_kind kind, const void *handle);

/* 0, the default stream of a call, as the per-thread form of the call means it. */
CUstream guest_per_thread(CUstream stream);

/* Number of devices of this domain, once initialised. */
int guest_device_count(void);

/* Says something on stderr where VCUDA_LOG is set. */
void guest_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What is known of objects. Pointers are owned by the table of names. */
struct context {
    CUdevice device;
    uint32_t grid_max[3], block_max[3]; /* of a launch */
    unsigned int flags;
    bool primary;
    uint32_t inactive; /* 1: a primary one that nobody retained since it was reset or released */
    uint32_t sticky;   /* CUresult of a fault that ended this context's usefulness, or 0 */
    uint32_t attached; /* by cuCtxAttach, beyond its making */
    uint64_t green;    /* name of the green context that it belongs to, or 0 */
    uint64_t id;       /* as the driver numbers it; 0: not asked yet */
};

struct stream {
    uint64_t context;
    unsigned int flags;
};

struct event {
    uint64_t context;
    unsigned int flags;
};

enum { GUEST_NEW, GUEST_READY, GUEST_FORKED, GUEST_LEFT };

/* One of these, and whether worker or transport are gone. */
extern uint32_t guest_state, guest_lost;

/*
 * How often what guest_enter() found may have ceased to be true, and 1: a thread that has entered
 * need not look again until it grows.
 */
extern uint64_t guest_changes;

/* Called when state or session have ended, or a context: once that can be seen. Any thread. */
static inline void guest_changed(void) {
    __atomic_fetch_add(&guest_changes, 1, __ATOMIC_SEQ_CST);
}

/* Changes which context is the thread's current one. */
static inline void guest_set_context(struct thread *t, uint64_t name) {
    t->context = name;
    t->entered = 0;
}

/* Whether what guest_enter() found for a thread still holds. */
static inline bool guest_unchanged(const struct thread *t) {
    return likely(t->entered == vcuda_load_acquire(&guest_changes));
}

/* The thread's current context; NULL: it has none that exists. */
static inline struct context *guest_context(const struct thread *t) {
    return guest_unchanged(t) ? t->now : names_get(VCUDA_KIND_CONTEXT, t->context);
}

/* This thread, while it may make calls: not before its first, nor inside a host function. */
extern __thread struct thread *guest_caller __attribute__((tls_model("initial-exec")));

/* Tells what is missing where guest_enter() does not find all at once. */
SELDOM CUresult guest_enter_slowly(struct thread **t);

/*
 * What most calls start with: initialised, and a current context that still lives. The thread is
 * stored in *t.
 */
static inline CUresult guest_enter(struct thread **t) {
    struct thread *own = guest_caller, *other; /* found otherwise */
    CUresult r;

    if (likely(own) && guest_unchanged(own)) {
        *t = own;
        return CUDA_SUCCESS;
    }
    r = guest_enter_slowly(&other);
    *t = other;
    return r;
}

/* Lends the thread the context of an object; the error of the call where it has none. */
SELDOM CUresult guest_lend_of(struct thread *t, enum vcuda_kind kind, const void *handle);

/*
 * What calls about an object start with: as guest_enter(), but a thread that has no context current
 * makes the call in the object's, as native.
 */
static inline CUresult guest_enter_about(struct thread **t, enum vcuda_kind kind,
                                         const void *handle) {
    CUresult r = guest_enter(t);

    return unlikely(r == CUDA_ERROR_INVALID_CONTEXT) ? guest_lend_of(*t, kind, handle) : r;
}

/* The same for device memory, or memory of the host's that the device knows. */
CUresult guest_enter_memory(struct thread **t, uint64_t address);

/* A default stream, or a wild one. */
CUresult stream_resolve_other(struct thread *t, CUstream stream, uint64_t *name, uint64_t *context);

/*
 * The stream to put into a record: 0 or a name. *context receives the context that it belongs to.
 * CUDA_ERROR_INVALID_HANDLE for a wild one. The per-thread stream is made at first use.
 */
static inline CUresult stream_resolve(struct thread *t, CUstream stream, uint64_t *name,
                                      uint64_t *context) {
    const struct stream *s = names_get(VCUDA_KIND_STREAM, (uint64_t)stream);

    if (unlikely(!s)) {
        uint64_t other, where; /* the caller's own can be in registers */
        CUresult r = stream_resolve_other(t, stream, &other, &where);

        *name = other;
        *context = where;
        return r;
    }
    *name = (uint64_t)stream;
    *context = s->context;
    return CUDA_SUCCESS;
}

/* What calls in a stream start with, as far as its context does not matter to them. */
static inline CUresult guest_enter_stream(struct thread **t, CUstream stream, uint64_t *name) {
    uint64_t context;
    CUresult r = guest_enter_about(t, VCUDA_KIND_STREAM, stream);

    return likely(r == CUDA_SUCCESS) ? stream_resolve(*t, stream, name, &context) : r;
}

/* A stream's place among those that live, before the worker makes it in `context`; 0: no memory. */
uint64_t stream_new(uint64_t context, unsigned int flags);

/* Whether the process ever had a stream besides the default one. */
bool stream_any_made(void);

/* Whether a stream is of a context: for names_any() and its like. arg: the context's name. */
int stream_is_of(const void *stream, const void *context);

/* Of a stream that ended with its context. */
void stream_forget(void *stream);

/* Frees a stream whose name has ended; NULL is fine. */
void stream_free(void *stream);

/* What calls on a device start with. */
CUresult context_enter_device(struct thread **t, CUdevice dev);

/* Whether these are a context's: at most one scheduling policy, and no unknown bit. */
bool context_flags_ok(unsigned int flags);

/* The primary context of a device, whether it is active or not; does not make it so. */
CUresult context_primary(CUcontext *context, CUdevice dev);

/* A new name for a context that the worker is about to make; 0: out of memory. */
uint64_t context_new(CUdevice dev, unsigned int flags, bool primary);
/* Ends the name of a context and of all that belongs to it. */
void context_end(uint64_t context);

/* Whether calls can be made in a context: it exists, and is active if it is a primary one. */
bool context_live(uint64_t context);

/* Waits for all that the thread's context has to do, as cuCtxSynchronize(). */
CUresult context_wait(struct thread *t);

/*
 * Copies from or to memory of the host's that is to go may be under way: waits for them, as native
 * does. The error of a capture that forbids that.
 */
CUresult memory_settle(struct thread *t);

/* Forgets what belongs to a context that ended. */
void context_forget(uint64_t context);

/* Destroys a thread's own default streams, when it ends. */
void stream_forget_thread(struct thread *t);

#endif
