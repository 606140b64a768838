/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process' view of CUDA: the session, its devices, each thread's contexts.
 */
#ifndef VCUDA_USERLIB_GUEST_H
#define VCUDA_USERLIB_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_types.h"
#include "names.h"

#define VCUDA_EXPORT __attribute__((visibility("default")))

/* What every call gets once the session is lost (worker or transport gone): sticky, as a fault. */
#define VCUDA_ERROR_LOST CUDA_ERROR_LAUNCH_FAILED

struct own_stream;
struct capture_lists;

/* A thread of the program. */
struct thread {
    uint64_t context; /* name of the current context, or 0 */
    uint32_t depth;   /* of the stack below it */
    uint32_t room;
    uint64_t *stack;
    struct own_stream *own_streams; /* its per-thread default streams, one a context */
    CUstreamCaptureMode capture_mode;
    struct capture_lists *capture_lists; /* what it was last told of a capture */
};

/* This thread's state; made at its first call. NULL: out of memory. */
struct thread *guest_thread(void);

/* 0 when the driver is initialised in this process, else the error that every call gives. */
CUresult guest_ready(void);

/*
 * What most calls start with: initialised, and a current context that still lives. The thread is
 * stored in *t.
 */
CUresult guest_enter(struct thread **t);

/* While this thread runs a host function, calls are not permitted. */
void guest_inside_host_function(bool inside);

/* The error of a fault in the thread's context, which every call gives since; or CUDA_SUCCESS. */
CUresult guest_fault(const struct thread *t);

/* The same for calls that do not need a context. */
CUresult guest_enter_any(struct thread **t);

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
    unsigned int flags;
    bool primary;
    uint32_t inactive; /* 1: a primary one that nobody retains */
    uint32_t sticky;   /* CUresult of a fault that ended this context's usefulness, or 0 */
    uint32_t attached; /* by cuCtxAttach, beyond its making */
    uint64_t green;    /* name of the green context that it belongs to, or 0 */
};

struct stream {
    uint64_t context;
    unsigned int flags;
};

struct event {
    uint64_t context;
    unsigned int flags;
};

/*
 * The stream to put into a record: 0 or a name. *context receives the context that it belongs to.
 * CUDA_ERROR_INVALID_HANDLE for a wild one. The per-thread stream is made at first use.
 */
CUresult stream_resolve(struct thread *t, CUstream stream, uint64_t *name, uint64_t *context);

/* A stream's place among those that live, before the worker makes it in `context`; 0: no memory. */
uint64_t stream_new(uint64_t context, unsigned int flags);

/* Frees a stream whose name has ended; NULL is fine. */
void stream_free(void *stream);

/* The primary context of a device, whether it is active or not; does not make it so. */
CUresult context_primary(CUcontext *context, CUdevice dev);

/* A new name for a context that the worker is about to make; 0: out of memory. */
uint64_t context_new(CUdevice dev, unsigned int flags, bool primary);
/* Ends the name of a context and of all that belongs to it. */
void context_end(uint64_t context);

/* Whether calls can be made in a context: it exists, and is retained if it is a primary one. */
bool context_live(uint64_t context);

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
