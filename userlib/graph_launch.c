// SPDX-License-Identifier: Apache-2.0
/* When the buffers of an executable are filled, and emptied. */
#include <stdlib.h>

#include "counters.h"
#include "cuda_calls.h"
#include "graph_host.h"
#include "graph_uses.h"
#include "hostfunc.h"
#include "notes.h"
#include "rpc.h"
#include "wire.h"

static struct graph_uses *pending; /* those that are watched, the last launch first */
static uint64_t launches;
static __thread bool arriving;

static void arrive(void);

void graph_launch_forget(struct graph_uses *u) {
    for (struct graph_uses **at = &pending; *at; at = &(*at)->next) {
        if (*at == u) {
            *at = u->next;
            break;
        }
    }
    u->pending = false;
    if (!pending)
        rpc_after_wait(NULL);
}

/* Under the lock. The last launch is done: what it wrote goes to the program. */
static void done(struct graph_uses *u) {
    if (!u->pending)
        return;
    for (size_t i = 0; i < u->count; i++) {
        if (!u->use[i].buffer->up && !u->use[i].off)
            graph_buffer_empty(u->use[i].buffer);
    }
    graph_launch_forget(u);
}

/* The same, if it is not known yet, nor was followed by another: any thread may find that out. */
static void launch_done(uint64_t launch) {
    struct graph_uses *u;

    pthread_mutex_lock(&graph_uses_lock);
    for (u = pending; u && u->launch != launch; u = u->next)
        ;
    if (u)
        done(u);
    pthread_mutex_unlock(&graph_uses_lock);
}

/* Our own questions are not the program's: they upset no capture, and ask no more of the like. */
static CUstreamCaptureMode begin_own(struct thread *t) {
    CUstreamCaptureMode mode = t->capture_mode;

    arriving = true;
    t->capture_mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    return mode;
}

static void end_own(struct thread *t, CUstreamCaptureMode mode) {
    t->capture_mode = mode;
    arriving = false;
}

/* A launch that is pending. */
struct launch {
    uint64_t number;
    uint64_t event; /* behind it */
    uint64_t context;
};

static struct launch launch_of(const struct graph_uses *u) {
    return (struct launch){u->launch, (uint64_t)u->event, u->context};
}

/* Waits for it, or (not `wait`) asks. A context ends once all in it is done. */
static CUresult reach(struct thread *t, const struct launch *l, bool wait) {
    struct thread there = *t;
    CUresult r;

    if (!names_get(VCUDA_KIND_EVENT, l->event))
        return CUDA_SUCCESS;
    guest_set_context(&there, l->context);
    r = wait ? wire_cuEventSynchronize(&there, l->event) : wire_cuEventQuery(&there, l->event);
    return r == CUDA_ERROR_CONTEXT_IS_DESTROYED || !names_get(VCUDA_KIND_EVENT, l->event)
               ? CUDA_SUCCESS
               : r;
}

/* The first launch after that one, and before `end`; false: there is none. */
static bool next_pending(uint64_t after, uint64_t end, struct launch *l) {
    const struct graph_uses *found = NULL;

    pthread_mutex_lock(&graph_uses_lock);
    for (const struct graph_uses *u = pending; u && u->launch > after; u = u->next) {
        if (u->recorded && u->launch < end)
            found = u;
    }
    if (found)
        *l = launch_of(found);
    pthread_mutex_unlock(&graph_uses_lock);
    return found != NULL;
}

/*
 * What is done arrives, of the launches before that one. In their order: of two that write the same
 * memory the later one has the word.
 */
static void arrive_before(struct thread *t, uint64_t end) {
    struct launch l = {0};
    CUstreamCaptureMode mode = begin_own(t);

    while (next_pending(l.number, end, &l)) {
        if (reach(t, &l, false) == CUDA_SUCCESS)
            launch_done(l.number);
    }
    end_own(t, mode);
}

/* The program has waited for something. */
static void arrive(void) {
    struct thread *t = guest_thread();

    if (!arriving && t)
        arrive_before(t, UINT64_MAX);
}

static CUresult wait(struct thread *t, const struct launch *l) {
    CUstreamCaptureMode mode = begin_own(t);
    CUresult r = reach(t, l, true);

    end_own(t, mode);
    if (r != CUDA_SUCCESS)
        return r;
    arrive_before(t, l->number);
    launch_done(l->number);
    return CUDA_SUCCESS;
}

CUresult graph_host_settle(struct thread *t, uint64_t exec) {
    struct graph_uses *u = notes_get(exec);
    struct launch l = {0};
    bool is_pending;
    CUresult r;

    pthread_mutex_lock(&graph_uses_lock);
    is_pending = u && u->pending;
    if (is_pending)
        l = launch_of(u);
    pthread_mutex_unlock(&graph_uses_lock);
    if (!is_pending)
        return CUDA_SUCCESS;
    r = wait(t, &l);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&graph_uses_lock);
    if (u->launch == l.number)
        done(u); /* also if nobody watched it */
    pthread_mutex_unlock(&graph_uses_lock);
    return CUDA_SUCCESS;
}

void graph_host_finish(struct thread *t, uint64_t exec) {
    struct graph_uses *u = notes_get(exec);

    if (!u)
        return;
    graph_host_settle(t, exec);
    if (u->event)
        cuEventDestroy_v2(u->event);
    u->event = NULL;
}

/* An event to be recorded behind a launch: of the context where that is. */
static CUresult renew_event(struct thread *t, struct graph_uses *u) {
    if (u->event && u->context == t->context && names_get(VCUDA_KIND_EVENT, (uint64_t)u->event))
        return CUDA_SUCCESS;
    if (u->event)
        cuEventDestroy_v2(u->event);
    u->event = NULL;
    u->context = t->context;
    return cuEventCreate(&u->event, CU_EVENT_DISABLE_TIMING);
}

/* Under the lock: whether one writes what the other has. */
static bool touches(const struct graph_uses *writer, const struct graph_uses *u) {
    for (size_t i = 0; i < writer->count; i++) {
        const struct graph_buffer *a = writer->use[i].buffer;

        for (size_t j = 0; j < u->count && !a->up; j++) {
            const struct graph_buffer *b = u->use[j].buffer;

            if (a->begin < b->end && b->begin < a->end)
                return true;
        }
    }
    return false;
}

/* Another executable that is under way writes what this one is to be filled from. */
static CUresult await_writers(struct thread *t, const struct graph_uses *u) {
    CUresult r = CUDA_SUCCESS;

    while (r == CUDA_SUCCESS) {
        struct launch l = {0};

        pthread_mutex_lock(&graph_uses_lock);
        for (const struct graph_uses *w = pending; w && !l.number; w = w->next) {
            if (w != u && w->recorded && touches(w, u))
                l = launch_of(w);
        }
        pthread_mutex_unlock(&graph_uses_lock);
        if (!l.number)
            break;
        r = wait(t, &l);
    }
    return r;
}

/* Under the lock: what is done with it is of interest, not only to the next launch. */
static bool is_watched(const struct graph_uses *u) {
    for (size_t i = 0; i < u->count; i++) {
        if (!u->use[i].buffer->up)
            return true;
    }
    return hostfunc_any();
}

/* Under the lock. Its functions may run before the launch has returned. */
static void begin(struct graph_uses *u, uint64_t stream) {
    u->pending = true;
    u->recorded = false;
    u->launch = ++launches;
    u->stream = stream;
    if (!is_watched(u))
        return;
    u->next = pending;
    pending = u;
    rpc_after_wait(arrive);
}

CUresult graph_host_launch(struct thread *t, uint64_t exec, uint64_t stream) {
    struct graph_uses *u = notes_get(exec);
    CUresult r;

    if (!u || !u->count)
        return CUDA_SUCCESS;
    r = graph_host_settle(t, exec);
    if (r == CUDA_SUCCESS)
        r = await_writers(t, u);
    if (r == CUDA_SUCCESS)
        r = renew_event(t, u);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&graph_uses_lock);
    for (size_t i = 0; i < u->count; i++) {
        const struct graph_buffer *b = u->use[i].buffer;

        COUNT(bytes_staged, graph_buffer_bytes(b));
        /* A host function may look at what is not written yet; what lies within may not run. */
        if ((b->up || hostfunc_any() || u->use[i].within) && !u->use[i].off)
            graph_buffer_fill(b);
    }
    begin(u, stream);
    pthread_mutex_unlock(&graph_uses_lock);
    return CUDA_SUCCESS;
}

CUresult graph_host_launched(uint64_t exec, CUresult r) {
    struct graph_uses *u = notes_get(exec);

    if (!u || !u->count)
        return r;
    if (r == CUDA_SUCCESS)
        r = cuEventRecord(u->event, u->stream ? (CUstream)u->stream : CU_STREAM_LEGACY);
    pthread_mutex_lock(&graph_uses_lock);
    u->recorded = true;
    if (r != CUDA_SUCCESS)
        graph_launch_forget(u);
    pthread_mutex_unlock(&graph_uses_lock);
    return r;
}

/* The default stream is another one in each context. */
static bool is_in(const struct graph_uses *u, uint64_t stream, uint64_t context) {
    return u->stream == stream && (stream || u->context == context);
}

uint64_t graph_host_last_in(const struct thread *t, uint64_t stream) {
    uint64_t last = 0;

    pthread_mutex_lock(&graph_uses_lock);
    for (const struct graph_uses *u = pending; u && !last; u = u->next) {
        if (u->recorded && is_in(u, stream, t->context))
            last = u->launch;
    }
    pthread_mutex_unlock(&graph_uses_lock);
    return last;
}

/* What a host function may change: the program's memory, as it was before. */
struct seen {
    struct graph_buffer *buffer;
    char *bytes;
};

static struct seen *seen;
static size_t seen_count;

/* Under the lock. Without memory for it the GPU does not see what the function writes. */
static void look_at(struct graph_buffer *b) {
    struct seen *more = realloc(seen, (seen_count + 1) * sizeof(*seen));
    char *bytes = malloc(graph_buffer_bytes(b));

    if (more)
        seen = more;
    if (!more || !bytes) {
        free(bytes);
        return;
    }
    graph_buffer_note(b, bytes);
    b->refs++;
    seen[seen_count++] = (struct seen){b, bytes};
}

/* Under the lock: a launch is done, and so are those before it in its stream. */
static void stream_done(uint64_t launch) {
    struct graph_uses *u = pending, *first;

    while (u && u->launch != launch)
        u = u->next;
    while (u && u->pending) {
        first = u;
        for (struct graph_uses *w = u->next; w; w = w->next) {
            if (is_in(w, u->stream, u->context))
                first = w;
        }
        done(first);
    }
}

void graph_host_before_function(uint64_t behind) {
    pthread_mutex_lock(&graph_uses_lock);
    stream_done(behind);
    for (int up = 0; up < 2; up++) {
        for (struct graph_uses *u = pending; u; u = u->next) {
            for (size_t i = 0; i < u->count; i++) {
                struct graph_use *use = &u->use[i];

                if (use->buffer->up != up || use->off)
                    continue;
                if (!up)
                    graph_buffer_empty(use->buffer);
                look_at(use->buffer);
            }
        }
    }
    pthread_mutex_unlock(&graph_uses_lock);
}

void graph_host_after_function(void) {
    pthread_mutex_lock(&graph_uses_lock);
    while (seen_count) {
        struct seen *s = &seen[--seen_count];

        graph_buffer_fill_changed(s->buffer, s->bytes);
        graph_buffer_put(s->buffer);
        free(s->bytes);
    }
    pthread_mutex_unlock(&graph_uses_lock);
}
