// SPDX-License-Identifier: Apache-2.0
#include "told.h"

#include <pthread.h>
#include <sched.h>

#include "barrier.h"
#include "clock.h"
#include "cuda_errors.h"
#include "log.h"
#include "messages.h"
#include "pools.h"
#include "prints.h"
#include "untold.h"
#include "worker.h"

/* Streams in which the GPU tells, at one time. */
#define STREAMS_MAX 32
/* How long the GPU may take from what it told to the stream's end right behind. */
#define SETTLE_NS 20000000u
/* A wait from which on, in nanoseconds, it is as well to ask the driver. */
#define LONG_NS 100000u

/* A stream in which the GPU was asked to tell. */
struct asked {
    uint64_t stream, context; /* names; no context: a free place */
    CUstream native;
    uint32_t value;    /* what it writes last */
    uint32_t followed; /* by other work of the program's; any thread looks */
    CUevent event;     /* of ours, made when one is needed; it was recorded behind */
    uint32_t behind;   /* this value; 0: not yet */
};

static CUdeviceptr address; /* of the word, for the GPU; 0: it cannot write there */
static bool refused;        /* by the driver, as long as the context that registers lives */
static uint32_t long_waits; /* of the last 32, a bit each */
static struct asked asked[STREAMS_MAX];
static uint32_t places;                                  /* of those, so many were ever used */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of asked */

static uint8_t *page(const struct worker *w) {
    return (uint8_t *)w->link.rings + VCUDA_TOLD_OFFSET / VCUDA_PAGE * VCUDA_PAGE;
}

static uint32_t *word(const struct worker *w) {
    return (uint32_t *)((uint8_t *)w->link.rings + VCUDA_TOLD_OFFSET);
}

/*
 * The program's next such wait begins when this one has ended, and may have been told of as well.
 */
static bool reached(const struct worker *w, uint32_t value) {
    return (int32_t)(vcuda_load_acquire(word(w)) - value) >= 0;
}

void told_register(struct worker *w) {
    CUdeviceptr p = 0;

    if (address || refused || !w->link.rings)
        return;
    refused = w->driver.cuMemHostRegister_v2(page(w), VCUDA_PAGE,
                                             CU_MEMHOSTREGISTER_PORTABLE |
                                                 CU_MEMHOSTREGISTER_DEVICEMAP) != CUDA_SUCCESS ||
              w->driver.cuMemHostGetDevicePointer_v2(&p, word(w), 0) != CUDA_SUCCESS;
    if (refused)
        vcuda_log(VCUDA_LOG_INFO, "the GPU cannot tell of waits itself: they take longer");
    vcuda_store_once(&address, p);
}

void told_unregistered(void) {
    refused = false;
    vcuda_store_once(&address, 0);
}

CUdeviceptr told_address(uint32_t offset) {
    CUdeviceptr to = vcuda_load_once(&address);

    return to ? to - VCUDA_TOLD_OFFSET + offset : 0;
}

void told_forget_context(uint64_t context) {
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < places; i++) {
        if (asked[i].context == context)
            asked[i] = (struct asked){.followed = 1};
    }
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static struct asked *find(uint64_t stream, uint64_t context) {
    for (uint32_t i = 0; i < places; i++) {
        if (asked[i].context == context && asked[i].stream == stream)
            return &asked[i];
    }
    return NULL;
}

static bool of_program(uint64_t stream) {
    return vcuda_name_kind(stream) == VCUDA_KIND_STREAM;
}

static bool stream_ended(struct worker *w, uint64_t stream) {
    struct object s;

    return of_program(stream) && !objects_get(&w->objects, VCUDA_KIND_STREAM, stream, &s);
}

/* Under the lock: whether a question for its stream needs to know nothing of it any more. */
static bool may_go(struct worker *w, const struct asked *a) {
    return !a->context ||
           (reached(w, a->value) &&
            (a->followed || stream_ended(w, a->stream) ||
             (of_program(a->stream) && w->driver.cuStreamQuery(a->native) == CUDA_SUCCESS)));
}

/* Under the lock: the stream's place, or one that has become free; NULL: there is none. */
static struct asked *find_or_make(struct worker *w, uint64_t stream, uint64_t context) {
    struct asked *a = find(stream, context);

    if (!a)
        a = find(0, 0);
    if (!a && places < STREAMS_MAX)
        a = &asked[places];
    for (uint32_t i = 0; !a && i < places; i++)
        a = may_go(w, &asked[i]) ? &asked[i] : NULL;
    if (a && a->event && a->context != context) {
        w->driver.cuEventDestroy_v2(a->event);
        a->event = NULL;
    }
    return a;
}

/* Natively waiting brings out what kernels printed and has pools give back what was freed. */
static bool only_success_to_tell(const struct frame *f) {
    return !prints_possible() && !pools_freed() && !messages_any() && !untold_any(f->head.status);
}

/* Notes that the GPU will be asked to write the value; false: there is no place for that. */
static bool note(struct worker *w, uint32_t value, CUstream stream, uint64_t stream_name,
                 uint64_t context) {
    struct asked *a;

    pthread_mutex_lock(&lock);
    a = find_or_make(w, stream_name, context);
    if (a) {
        a->context = context;
        a->native = stream;
        a->value = value;
        a->behind = 0;
        vcuda_store_once(&a->stream, stream_name);
        vcuda_store_once(&a->followed, 0);
    }
    if (a == &asked[places])
        vcuda_store_once(&places, places + 1);
    pthread_mutex_unlock(&lock);
    return a != NULL;
}

/* It was not asked. */
static void take_back(struct worker *w, uint64_t stream, uint64_t context) {
    struct asked *a;

    pthread_mutex_lock(&lock);
    a = find(stream, context);
    if (a && a->event)
        w->driver.cuEventDestroy_v2(a->event);
    if (a)
        *a = (struct asked){.followed = 1};
    pthread_mutex_unlock(&lock);
}

void told_learn(uint64_t waited) {
    long_waits = long_waits << 1 | (waited >= LONG_NS);
}

static bool waits_are_long(void) {
    return __builtin_popcount(long_waits & 0xff) > 4;
}

bool told_ask(struct worker *w, struct frame *f, CUstream stream, uint64_t stream_name,
              uint64_t context) {
    CUdeviceptr to = vcuda_load_once(&address);
    uint32_t value = (uint32_t)(f->head.tag >> 32);

    if (!to || !value || !(f->head.flags & VCUDA_REC_LOOKS) || waits_are_long() ||
        !only_success_to_tell(f))
        return false;
    /* What was told before, 2^31 calls ago, is ahead of this one. */
    if (reached(w, value))
        vcuda_store_once(word(w), value - 1);
    if (!note(w, value, stream, stream_name, context))
        return false;
    if (w->driver.cuStreamWriteValue32_v2(stream, to, value, 0) != CUDA_SUCCESS) {
        take_back(w, stream_name, context);
        return false;
    }
    f->told = value;
    f->told_stream = stream_name;
    f->event_context = context;
    return true;
}

bool told_yet(const struct worker *w, const struct frame *f) {
    return f->told && reached(w, f->told);
}

static bool means(const struct asked *a, uint64_t stream) {
    uint64_t name = vcuda_load_once(&a->stream);

    return name == stream || !of_program(name);
}

void told_stream_used(uint64_t stream) {
    uint32_t there = vcuda_load_once(&places);

    for (uint32_t i = 0; i < there; i++) {
        if (vcuda_load_once(&asked[i].followed) || !means(&asked[i], stream))
            continue;
        pthread_mutex_lock(&lock);
        if (means(&asked[i], stream))
            vcuda_store_once(&asked[i].followed, 1);
        pthread_mutex_unlock(&lock);
    }
}

/*
 * Under the lock: puts an event behind what the GPU is to tell of, and what has come after that.
 * CUDA_ERROR_NOT_READY: not while the stream is captured.
 */
static CUresult put_event(struct worker *w, struct asked *a) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult r = worker_use_context(w, a->context);

    if (r == CUDA_SUCCESS)
        r = w->driver.cuStreamIsCapturing(a->native, &status);
    if (cuda_error_of_capture(r) || (r == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE))
        return CUDA_ERROR_NOT_READY;
    if (r == CUDA_SUCCESS && !a->event)
        r = w->driver.cuEventCreate(&a->event, CU_EVENT_DISABLE_TIMING);
    if (r == CUDA_SUCCESS)
        r = w->driver.cuEventRecord(a->event, a->native);
    if (r == CUDA_SUCCESS)
        a->behind = a->value;
    return r;
}

/* Under the lock. */
static CUresult check(struct worker *w, struct asked *a) {
    CUresult r = CUDA_SUCCESS;

    if (a->behind != a->value)
        r = stream_ended(w, a->stream) ? CUDA_ERROR_NOT_READY : put_event(w, a);
    return r == CUDA_SUCCESS ? w->driver.cuEventQuery(a->event) : r;
}

CUresult told_check(struct worker *w, const struct frame *f) {
    struct asked *a;
    CUresult r;

    pthread_mutex_lock(&lock);
    a = find(f->told_stream, f->event_context);
    r = a ? check(w, a) : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    pthread_mutex_unlock(&lock);
    return r;
}

void told_stream_ends(struct worker *w, uint64_t stream) {
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < places; i++) {
        struct asked *a = &asked[i];

        if (!a->context || a->stream != stream)
            continue;
        if (!reached(w, a->value))
            put_event(w, a); /* if that fails, so does the question for it: the context is lost */
        vcuda_store_once(&a->followed, 1);
    }
    pthread_mutex_unlock(&lock);
}

/* Whether the stream has only what the GPU has told of: then its end is there at any moment. */
static bool about_to_end(struct worker *w, uint64_t stream, uint64_t context) {
    const struct asked *a;
    bool about;

    pthread_mutex_lock(&lock);
    a = find(stream, context);
    about = a && !a->followed && reached(w, a->value);
    pthread_mutex_unlock(&lock);
    return about;
}

CUresult told_query(struct worker *w, CUstream stream, uint64_t stream_name, uint64_t context) {
    CUresult r = w->driver.cuStreamQuery(stream);
    uint64_t begun;
    struct object s;

    if (r != CUDA_ERROR_NOT_READY)
        return r;
    if (stream_name && objects_get(&w->objects, VCUDA_KIND_STREAM, stream_name, &s))
        context = s.owner;
    if (!about_to_end(w, stream_name, context))
        return r;
    /* The program has waited; what it did not ask for shall not look like work. */
    for (begun = vcuda_now_ns(); r == CUDA_ERROR_NOT_READY && vcuda_now_ns() - begun < SETTLE_NS;
         sched_yield())
        r = w->driver.cuStreamQuery(stream);
    return r;
}
