// SPDX-License-Identifier: Apache-2.0
#include "told.h"

#include <pthread.h>
#include <sched.h>

#include "barrier.h"
#include "clock.h"
#include "log.h"
#include "messages.h"
#include "pools.h"
#include "prints.h"
#include "untold.h"
#include "worker.h"

/* Streams in which the GPU tells, at one time. */
#define STREAMS_MAX 32
/* How long the GPU may take from what it told to the event right behind. */
#define SETTLE_NS 1000000u

/* A stream in which the GPU was asked to tell. */
struct asked {
    uint64_t stream, context; /* names */
    CUevent event;            /* behind what it wrote last; NULL: a free place */
    uint32_t value;           /* that */
};

static CUdeviceptr address; /* of the word, for the GPU; 0: it cannot write there */
static bool refused;        /* by the driver, as long as the context that registers lives */
static struct asked asked[STREAMS_MAX];
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

void told_forget_context(uint64_t context) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < STREAMS_MAX; i++) {
        if (asked[i].context == context)
            asked[i] = (struct asked){0};
    }
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static struct asked *find(uint64_t stream, uint64_t context) {
    for (int i = 0; i < STREAMS_MAX; i++) {
        if (asked[i].event && asked[i].stream == stream && asked[i].context == context)
            return &asked[i];
    }
    return NULL;
}

/* Under the lock: the stream's, or one of which nothing need be known any more; NULL: none. */
static struct asked *find_or_make(struct worker *w, uint64_t stream, uint64_t context) {
    struct asked *a = find(stream, context);

    for (int i = 0; !a && i < STREAMS_MAX; i++)
        a = asked[i].event ? NULL : &asked[i];
    for (int i = 0; !a && i < STREAMS_MAX; i++)
        a = w->driver.cuEventQuery(asked[i].event) == CUDA_SUCCESS ? &asked[i] : NULL;
    if (!a || (a->event && a->context == context))
        return a;
    if (a->event)
        w->driver.cuEventDestroy_v2(a->event);
    if (w->driver.cuEventCreate(&a->event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
        a->event = NULL;
    return a->event ? a : NULL;
}

/* Natively waiting brings out what kernels printed and has pools give back what was freed. */
static bool only_success_to_tell(const struct frame *f) {
    return !prints_possible() && !pools_freed() && !messages_any() && !untold_any(f->head.status);
}

/* Under the lock. */
static CUevent ask(struct worker *w, CUdeviceptr to, uint32_t value, CUstream stream,
                   uint64_t stream_name, uint64_t context) {
    struct asked *a = find_or_make(w, stream_name, context);

    if (!a)
        return NULL;
    /* What was told before, 2^31 calls ago, is ahead of this one. */
    if (reached(w, value))
        vcuda_store_once(word(w), value - 1);
    if (w->driver.cuStreamWriteValue32_v2(stream, to, value, 0) != CUDA_SUCCESS)
        return NULL;
    /* If that fails, so will the question for it: the context is lost. */
    w->driver.cuEventRecord(a->event, stream);
    a->stream = stream_name;
    a->context = context;
    a->value = value;
    return a->event;
}

bool told_ask(struct worker *w, struct frame *f, CUstream stream, uint64_t stream_name,
              uint64_t context) {
    CUdeviceptr to = vcuda_load_once(&address);
    uint32_t value = (uint32_t)(f->head.tag >> 32);

    if (!to || !value || !(f->head.flags & VCUDA_REC_LOOKS) || !only_success_to_tell(f))
        return false;
    pthread_mutex_lock(&lock);
    f->event = ask(w, to, value, stream, stream_name, context);
    pthread_mutex_unlock(&lock);
    f->told = f->event ? value : 0;
    return f->event != NULL;
}

bool told_yet(const struct worker *w, const struct frame *f) {
    return f->told && reached(w, f->told);
}

/* Waits for the event right behind what the GPU has told; false: it has told nothing there. */
static bool settle(struct worker *w, uint64_t stream, uint64_t context) {
    uint64_t begun = vcuda_now_ns();
    const struct asked *a;
    bool told;

    pthread_mutex_lock(&lock);
    a = find(stream, context);
    told = a && reached(w, a->value);
    while (told && w->driver.cuEventQuery(a->event) == CUDA_ERROR_NOT_READY &&
           vcuda_now_ns() - begun < SETTLE_NS)
        sched_yield();
    pthread_mutex_unlock(&lock);
    return told;
}

CUresult told_query(struct worker *w, CUstream stream, uint64_t stream_name, uint64_t context) {
    CUresult r = w->driver.cuStreamQuery(stream);
    struct object s;

    if (r != CUDA_ERROR_NOT_READY)
        return r;
    if (stream_name && objects_get(&w->objects, VCUDA_KIND_STREAM, stream_name, &s))
        context = s.owner;
    /* The program has waited; what it did not ask for shall not look like work. */
    return settle(w, stream_name, context) ? w->driver.cuStreamQuery(stream) : r;
}
