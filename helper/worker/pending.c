// SPDX-License-Identifier: Apache-2.0
/*
 * Answers that wait for the GPU. The executor must not sleep in the driver: it records an event and
 * asks for it between other calls; after a while ever more seldom, so that it can sleep in between.
 * (An event that a thread can sleep for has the GPU interrupt: that costs more than asking, in each
 * wait, and wakes later.) Where the GPU tells the program itself, the driver is asked for errors.
 */
#include <stdlib.h>

#include "answers.h"
#include "idle.h"
#include "pools.h"
#include "prints.h"
#include "spin.h"
#include "told.h"
#include "worker.h"

/* How long an event is asked for without a pause, at most. */
#define ASK_NS 10000000u
/* The pause before the next question: this part of what the wait took so far, within bounds. */
#define PAUSE_PART 64
#define PAUSE_MIN_NS 50000u
#define PAUSE_MAX_NS 10000000u
/*
 * Questions in vain before the next records are taken: with many waits at once the executor would
 * ask more than it launches.
 */
#define IN_VAIN_MAX 2
/* Events kept for reuse. */
#define POOL_MAX 256
/* Contexts' ends are counted in so many places. */
#define ENDS 256

struct pending {
    struct pending *next_one;
    struct frame frame;
    uint64_t since;
    uint64_t next; /* when to ask again */
};

/* Of the executor. Who was asked for last stands last. */
static struct pending *polled, **polled_end;
static uint32_t polled_count;
static struct vcuda_spin asking;

/*
 * A guest's event that is waited for must outlive the wait, whatever the guest does. As many as
 * there are waits; of the executor.
 */
static struct held {
    CUevent event;
    uint32_t waits;
    bool ended; /* by the guest */
} * held;
static uint32_t held_count, held_room;

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t context;
    CUevent event;
} pool[POOL_MAX];
static uint32_t pool_count;
/* A primary context's name lives on, and another context has it then: events are not that one's. */
static uint32_t ends[ENDS];

static uint32_t *ends_of(uint64_t context) {
    return &ends[vcuda_name_index(context) % ENDS];
}

void pending_start(struct worker *w) {
    vcuda_spin_init(&asking, ASK_NS, w->link.elsewhere);
}

static CUresult pool_take(struct worker *w, uint64_t context, CUevent *event, uint32_t *since) {
    *event = NULL;
    pthread_mutex_lock(&pool_lock);
    *since = *ends_of(context);
    for (uint32_t i = pool_count; i-- > 0 && !*event;) {
        if (pool[i].context == context) {
            *event = pool[i].event;
            pool[i] = pool[--pool_count];
        }
    }
    pthread_mutex_unlock(&pool_lock);
    if (*event)
        return CUDA_SUCCESS;
    return w->driver.cuEventCreate(event, CU_EVENT_DISABLE_TIMING);
}

/* One that ended with its context is not the driver's any more: it is not even destroyed. */
static void pool_give(struct worker *w, uint64_t context, CUevent event, uint32_t since) {
    bool ended, kept;

    pthread_mutex_lock(&pool_lock);
    ended = *ends_of(context) != since;
    kept = !ended && pool_count < POOL_MAX;
    if (kept) {
        pool[pool_count].context = context;
        pool[pool_count++].event = event;
    }
    pthread_mutex_unlock(&pool_lock);
    if (!kept && !ended)
        w->driver.cuEventDestroy_v2(event);
}

void pending_forget_context(uint64_t context) {
    told_forget_context(context);
    pthread_mutex_lock(&pool_lock);
    ++*ends_of(context);
    for (uint32_t i = pool_count; i-- > 0;) {
        if (pool[i].context == context)
            pool[i] = pool[--pool_count];
    }
    pthread_mutex_unlock(&pool_lock);
}

/* An event of ours, behind what `stream` holds now. */
static CUresult record_event(struct worker *w, struct frame *f, CUstream stream, uint64_t context) {
    CUresult r = pool_take(w, context, &f->event, &f->event_since);

    if (r != CUDA_SUCCESS)
        return r;
    r = w->driver.cuEventRecord(f->event, stream);
    if (r != CUDA_SUCCESS) {
        pool_give(w, context, f->event, f->event_since);
        return r;
    }
    f->event_context = context;
    f->event_is_ours = true;
    return CUDA_SUCCESS;
}

CUresult pending_stream(struct worker *w, struct frame *f, CUstream stream, uint64_t stream_name,
                        bool at_work) {
    struct object s = {0};
    uint64_t context = f->head.ctx;
    CUresult r = capture_refuses(w, stream);

    if (r != CUDA_SUCCESS)
        return r;
    /* An event must be of its stream's context, which need not be the caller's. */
    if (stream_name && objects_get(&w->objects, VCUDA_KIND_STREAM, stream_name, &s))
        context = s.owner;
    r = worker_use_context(w, context);
    if (r != CUDA_SUCCESS)
        return r;
    if (!(idle_just_left(stream_name) || at_work) || !told_ask(w, f, stream, stream_name, context))
        r = record_event(w, f, stream, context);
    f->pending = r == CUDA_SUCCESS;
    return r;
}

static struct held *find_held(CUevent event) {
    for (uint32_t i = 0; i < held_count; i++) {
        if (held[i].event == event)
            return &held[i];
    }
    return NULL;
}

static struct held *new_held(CUevent event) {
    if (held_count == held_room) {
        uint32_t room = held_room ? 2 * held_room : 64;
        struct held *more = realloc(held, room * sizeof(*more));

        if (!more)
            return NULL;
        held = more;
        held_room = room;
    }
    held[held_count] = (struct held){.event = event};
    return &held[held_count++];
}

CUresult pending_event(struct frame *f, CUevent event) {
    struct held *h = find_held(event);

    if (!h)
        h = new_held(event);
    if (!h)
        return CUDA_ERROR_OUT_OF_MEMORY;
    h->waits++;
    f->event = event;
    f->pending = true;
    return CUDA_SUCCESS;
}

CUresult pending_destroy(struct worker *w, CUevent event) {
    struct held *h = find_held(event);

    if (!h)
        return w->driver.cuEventDestroy_v2(event);
    h->ended = true;
    return CUDA_SUCCESS;
}

static void let_go(struct worker *w, CUevent event) {
    struct held *h = find_held(event);

    if (!h || --h->waits)
        return;
    if (h->ended)
        w->driver.cuEventDestroy_v2(event);
    *h = held[--held_count];
}

/* The event is free again. */
static void pending_finished(struct worker *w, struct frame *f) {
    if (f->event_is_ours)
        pool_give(w, f->event_context, f->event, f->event_since);
    else if (!f->told)
        let_go(w, f->event);
}

static void append(struct pending *p) {
    p->next_one = NULL;
    if (!polled)
        polled_end = &polled;
    *polled_end = p;
    polled_end = &p->next_one;
    polled_count++;
}

/* Of those that there are. */
static struct pending *take_first(void) {
    struct pending *p = polled;

    polled = p->next_one;
    polled_count--;
    return p;
}

void pending_add(struct worker *w, struct frame *f) {
    struct pending *p = malloc(sizeof(*p));

    if (!p) {
        f->status = CUDA_ERROR_OUT_OF_MEMORY;
        pending_finished(w, f);
        answers_put(w, f);
        return;
    }
    p->frame = *f;
    p->since = p->next = vcuda_now_ns();
    if (f->told)
        p->next += PAUSE_MIN_NS;
    append(p);
}

bool pending_any(void) {
    return polled != NULL;
}

/* The pause after an answer of "not ready": none at first, if the program waits for it. */
static void put_off(struct pending *p, uint64_t now) {
    uint64_t waited = now - p->since, pause = waited / PAUSE_PART;

    p->next = now;
    if (waited < asking.limit && !p->frame.told)
        return;
    if (pause < PAUSE_MIN_NS)
        pause = PAUSE_MIN_NS;
    p->next += pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS;
}

/* How long it need not be asked for; a clock that jumps may make that no longer. */
static uint64_t until(const struct pending *p, uint64_t now) {
    uint64_t left = p->next > now ? p->next - now : 0;

    return left <= PAUSE_MAX_NS ? left : 0;
}

int64_t pending_pause(void) {
    uint64_t now, pause = PAUSE_MAX_NS;

    if (!polled)
        return -1;
    now = vcuda_now_ns();
    for (const struct pending *p = polled; p; p = p->next_one) {
        uint64_t left = until(p, now);

        pause = left < pause ? left : pause;
    }
    return (int64_t)pause;
}

static void answer(struct worker *w, struct pending *p, CUresult r) {
    /* Waiting brings out what kernels printed and has pools give back what was freed, asking
     * does not. */
    if (!p->frame.told && (prints_possible() || pools_freed()))
        r = w->driver.cuEventSynchronize(p->frame.event);
    p->frame.status = r;
    answers_put(w, &p->frame);
}

static void finish(struct worker *w, struct pending *p, uint64_t now, CUresult r) {
    vcuda_spin_learn(&asking, now - p->since);
    if (p->frame.told || p->frame.event_is_ours)
        told_learn(now - p->since);
    if (told_yet(w, &p->frame)) /* before something else failed, if `r` says so */
        answers_wake(w);
    else
        answer(w, p, r);
    pending_finished(w, &p->frame);
    free(p);
}

void pending_poll(struct worker *w) {
    uint64_t now = vcuda_now_ns();
    uint32_t in_vain = 0;

    for (uint32_t left = polled_count; left && in_vain < IN_VAIN_MAX; left--) {
        struct pending *p = take_first();
        bool told = told_yet(w, &p->frame), due = !told && !until(p, now);
        CUresult r = told ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;

        if (due)
            r = p->frame.told ? told_check(w, &p->frame) : w->driver.cuEventQuery(p->frame.event);
        if (r != CUDA_ERROR_NOT_READY) {
            finish(w, p, now, r);
            continue;
        }
        if (due) {
            put_off(p, now);
            in_vain++;
        }
        append(p);
    }
}
