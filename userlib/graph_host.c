// SPDX-License-Identifier: Apache-2.0
#include "graph_host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "counters.h"
#include "cuda_calls.h"
#include "notes.h"
#include "rpc.h"
#include "wire.h"

/* A buffer, dense, and the program's memory that it stands for. */
struct buffer {
    uint32_t refs;
    bool up; /* the GPU reads it */
    char *stage;
    struct buffer *in;        /* it lies in another one; NULL: in memory of its own */
    struct vcuda_copy3d copy; /* as the program asked for it */
    struct buffer *next;      /* all of them */
};

struct use {
    struct buffer *buffer;
    uint64_t node;
};

/* The note of a graph or an executable. */
struct uses {
    size_t count;
    struct use *use;
    CUevent event;     /* of an executable: behind its last launch, which is */
    uint64_t launch;   /* this one, of all that there have been */
    uint64_t context;  /* where it was, and the event's */
    bool pending;      /* it is not known to be done */
    bool writes;       /* some buffer is written by the GPU */
    struct uses *next; /* those that are pending and write, the last launch first */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer *buffers;
static struct uses *writing;
static uint64_t launches;
static __thread bool arriving;

static void buffer_put(struct buffer *b) {
    struct buffer **at = &buffers;

    if (--b->refs)
        return;
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    if (b->in)
        buffer_put(b->in);
    else
        arena_free(b->stage, ARENA_STAGING);
    free(b);
}

static uint64_t bytes_of(const struct vcuda_copy3d *c) {
    uint64_t bytes;

    return __builtin_mul_overflow(c->width * c->rows, c->slices, &bytes) ? UINT64_MAX : bytes;
}

/* What the GPU reads, or what it writes. */
static const struct vcuda_place *side(const struct vcuda_copy3d *c, bool up) {
    return up ? &c->src : &c->dst;
}

static void move_rows(const struct buffer *b) {
    const struct vcuda_place *p = side(&b->copy, b->up);
    char *dense = b->stage;

    for (uint64_t z = 0; z < b->copy.slices; z++) {
        for (uint64_t y = 0; y < b->copy.rows; y++, dense += b->copy.width) {
            char *row = (char *)(p->base + p->x + p->pitch * (p->y + y + p->height * (p->z + z)));

            memcpy(b->up ? dense : row, b->up ? row : dense, b->copy.width);
        }
    }
}

/* Under the lock. */
static void stop_writing(struct uses *u) {
    for (struct uses **at = &writing; *at; at = &(*at)->next) {
        if (*at == u) {
            *at = u->next;
            break;
        }
    }
    if (!writing)
        rpc_after_wait(NULL);
}

static void release(void *data) {
    struct uses *u = data;

    pthread_mutex_lock(&lock);
    stop_writing(u);
    for (size_t i = 0; i < u->count; i++)
        buffer_put(u->use[i].buffer);
    pthread_mutex_unlock(&lock);
    free(u->use);
    free(u);
}

/* The note of a name, made if there is none; NULL: out of memory. */
static struct uses *uses_of(uint64_t owner) {
    struct uses *u = notes_get(owner);

    if (u)
        return u;
    u = calloc(1, sizeof(*u));
    if (!u)
        return NULL;
    if (notes_set(owner, 0, u, release))
        return u;
    free(u);
    return NULL;
}

/* Under the lock. */
static bool add(struct uses *u, struct buffer *b, uint64_t node) {
    struct use *more = realloc(u->use, (u->count + 1) * sizeof(*more));

    if (!more)
        return false;
    u->use = more;
    u->use[u->count++] = (struct use){b, node};
    u->writes = u->writes || !b->up;
    b->refs++;
    return true;
}

/* Memory without gaps, as a buffer is. */
static bool is_dense(const struct vcuda_copy3d *c, bool up, uint64_t *first) {
    return vcuda_place_span(c, side(c, up), (__u64 *)first) == bytes_of(c);
}

/*
 * Under the lock: what one node writes another one reads, if both have the same memory. A buffer of
 * the owner's that stands for all of this; NULL: there is none.
 */
static struct buffer *holder(const struct uses *u, const struct buffer *b, uint64_t *offset) {
    uint64_t first, begin, bytes = bytes_of(&b->copy);

    if (!is_dense(&b->copy, b->up, &first))
        return NULL;
    for (size_t i = 0; i < u->count; i++) {
        struct buffer *h = u->use[i].buffer;

        if (!is_dense(&h->copy, h->up, &begin))
            continue;
        *offset = first - begin;
        if (*offset < bytes_of(&h->copy) && bytes <= bytes_of(&h->copy) - *offset)
            return h;
    }
    return NULL;
}

/* In another buffer, or in memory of its own: not under the lock, since it may have to grow. */
static CUresult place(struct thread *t, const struct uses *u, struct buffer *b) {
    uint64_t offset;
    void *stage;
    CUresult r;

    pthread_mutex_lock(&lock);
    b->in = holder(u, b, &offset);
    if (b->in)
        b->in->refs++;
    pthread_mutex_unlock(&lock);
    if (b->in) {
        b->stage = b->in->stage + offset;
        return CUDA_SUCCESS;
    }
    /* Graphs outlive the context that was current. */
    r = arena_alloc(t, bytes_of(&b->copy), ARENA_STAGING, 0, &stage);
    if (r == CUDA_SUCCESS)
        b->stage = stage;
    return r;
}

static CUresult add_buffer(struct thread *t, struct uses *u, uint64_t node, bool up,
                           const struct vcuda_copy3d *c, char **stage) {
    struct buffer *b = calloc(1, sizeof(*b));
    CUresult r;

    if (!b)
        return CUDA_ERROR_OUT_OF_MEMORY;
    b->copy = *c;
    b->up = up;
    r = place(t, u, b);
    if (r != CUDA_SUCCESS) {
        free(b);
        return r;
    }
    *stage = b->stage;
    pthread_mutex_lock(&lock);
    b->next = buffers;
    buffers = b;
    if (!add(u, b, node)) {
        b->refs = 1;
        buffer_put(b);
        r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_unlock(&lock);
    return r;
}

/* One side of a copy, if the GPU does not reach its memory. */
static CUresult replace(struct thread *t, uint64_t owner, uint64_t node, bool up,
                        struct vcuda_copy3d *c) {
    struct vcuda_place *p = up ? &c->src : &c->dst;
    uint64_t first, bytes = vcuda_place_span(c, p, (__u64 *)&first);
    struct uses *u;
    char *stage;
    CUresult r;

    if (p->type != VCUDA_PLACE_HOST || (bytes && arena_holds((const void *)first, bytes)))
        return CUDA_SUCCESS;
    u = uses_of(owner);
    if (!u)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = add_buffer(t, u, node, up, c, &stage);
    if (r == CUDA_SUCCESS)
        *p = (struct vcuda_place){.base = (uint64_t)stage,
                                  .pitch = c->width,
                                  .height = c->rows,
                                  .type = VCUDA_PLACE_HOST};
    return r;
}

CUresult graph_host_buffer(struct thread *t, uint64_t owner, uint64_t node,
                           struct vcuda_copy3d *c) {
    CUresult r = replace(t, owner, node, true, c);

    return r == CUDA_SUCCESS ? replace(t, owner, node, false, c) : r;
}

/* Whether a copy that the worker told of has this buffer on that side. */
static bool is_in(const struct buffer *b, const struct vcuda_copy3d *c, bool up) {
    const struct vcuda_place *p = side(c, up);

    return b->up == up && p->type != VCUDA_PLACE_ARRAY && p->base == (uint64_t)b->stage &&
           bytes_of(c) == bytes_of(&b->copy);
}

/* Under the lock. Its type is what the driver says of that memory. */
static void original_place(struct vcuda_copy3d *c, bool up) {
    struct vcuda_place *p = up ? &c->src : &c->dst;

    for (struct buffer *b = buffers; b; b = b->next) {
        if (is_in(b, c, up)) {
            uint32_t type = p->type;

            *p = *side(&b->copy, up);
            p->type = type;
            return;
        }
    }
}

void graph_host_original(struct vcuda_copy3d *c) {
    pthread_mutex_lock(&lock);
    original_place(c, true);
    original_place(c, false);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static void drop_all(struct uses *u) {
    while (u->count)
        buffer_put(u->use[--u->count].buffer);
    u->writes = false;
}

CUresult graph_host_inherit(uint64_t to, uint64_t from, bool only) {
    struct uses *f = notes_get(from), *u;
    bool ok = true;

    if (!f || !f->count)
        f = NULL;
    u = f || (only && notes_get(to)) ? uses_of(to) : NULL;
    if (!u)
        return f ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    if (only)
        drop_all(u);
    for (size_t i = 0; f && i < f->count && ok; i++)
        ok = add(u, f->use[i].buffer, f->use[i].node);
    pthread_mutex_unlock(&lock);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Under the lock: one use, as a node has one a side; those that look the same are the same. */
static void drop_one(struct uses *u, uint64_t node, const struct vcuda_copy3d *c, bool up) {
    for (size_t i = u->count; i-- > 0;) {
        struct use *use = &u->use[i];

        if (use->buffer->up == up && use->node == node && (node || is_in(use->buffer, c, up))) {
            buffer_put(use->buffer);
            *use = u->use[--u->count];
            return;
        }
    }
    if (node) /* it was captured: its number was not known */
        drop_one(u, 0, c, up);
}

void graph_host_drop(uint64_t owner, uint64_t node, const struct vcuda_copy3d *c) {
    struct uses *u = notes_get(owner);

    if (!u)
        return;
    pthread_mutex_lock(&lock);
    drop_one(u, node, c, true);
    drop_one(u, node, c, false);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. The last launch is done: what it wrote goes to the program. */
static void done(struct uses *u) {
    if (!u->pending)
        return;
    for (size_t i = 0; i < u->count; i++) {
        if (!u->use[i].buffer->up)
            move_rows(u->use[i].buffer);
    }
    u->pending = false;
    stop_writing(u);
}

/* The same, if it is not known yet, nor was followed by another: any thread may find that out. */
static void launch_done(uint64_t launch) {
    struct uses *u;

    pthread_mutex_lock(&lock);
    for (u = writing; u && u->launch != launch; u = u->next)
        ;
    if (u)
        done(u);
    pthread_mutex_unlock(&lock);
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

static CUresult wait(struct thread *t, struct uses *u) {
    CUstreamCaptureMode mode;
    CUresult r = CUDA_SUCCESS;

    if (!u->pending)
        return r;
    /* Where its context has ended, so has the launch. */
    if (names_get(VCUDA_KIND_EVENT, (uint64_t)u->event)) {
        mode = begin_own(t);
        r = wire_cuEventSynchronize(t, (uint64_t)u->event);
        end_own(t, mode);
    }
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&lock);
    done(u);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

/* An event to be recorded behind a launch: of the context where that is. */
static CUresult renew_event(struct thread *t, struct uses *u) {
    if (u->event && u->context == t->context && names_get(VCUDA_KIND_EVENT, (uint64_t)u->event))
        return CUDA_SUCCESS;
    if (u->event)
        cuEventDestroy_v2(u->event);
    u->event = NULL;
    u->context = t->context;
    return cuEventCreate(&u->event, CU_EVENT_DISABLE_TIMING);
}

CUresult graph_host_launch(struct thread *t, uint64_t exec) {
    struct uses *u = notes_get(exec);
    CUresult r;

    if (!u || !u->count)
        return CUDA_SUCCESS;
    /* Buffers that two executables share are not told apart: both are rare. */
    r = wait(t, u);
    if (r == CUDA_SUCCESS)
        r = renew_event(t, u);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < u->count; i++) {
        const struct buffer *b = u->use[i].buffer;

        COUNT(bytes_staged, b->copy.width * b->copy.rows * b->copy.slices);
        if (b->up)
            move_rows(b);
    }
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

/* The last launch before *launch that is pending: its event, and where that is; or 0. */
static uint64_t next_writing(uint64_t *launch, uint64_t *context) {
    uint64_t event = 0;
    struct uses *u;

    pthread_mutex_lock(&lock);
    for (u = writing; u && u->launch >= *launch; u = u->next)
        ;
    if (u) {
        event = (uint64_t)u->event;
        *launch = u->launch;
        *context = u->context;
    }
    pthread_mutex_unlock(&lock);
    return event;
}

/* A context ends once all in it is done. */
static bool is_done(struct thread *t, uint64_t event, uint64_t context) {
    struct thread there = *t;
    CUresult r;

    guest_set_context(&there, context);
    r = wire_cuEventQuery(&there, event);
    return r == CUDA_SUCCESS || r == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
           !names_get(VCUDA_KIND_EVENT, event);
}

/* The program has waited for something: what is done arrives. */
static void arrive(void) {
    struct thread *t = guest_thread();
    uint64_t event, context, launch = UINT64_MAX;
    CUstreamCaptureMode mode;

    if (arriving || !t)
        return;
    mode = begin_own(t);
    while ((event = next_writing(&launch, &context))) {
        if (is_done(t, event, context))
            launch_done(launch);
    }
    end_own(t, mode);
}

CUresult graph_host_launched(struct thread *t, uint64_t exec, CUstream stream) {
    struct uses *u = notes_get(exec);
    CUresult r;

    if (!u || !u->count)
        return CUDA_SUCCESS;
    r = cuEventRecord(u->event, stream);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&lock);
    u->pending = true;
    u->launch = ++launches;
    if (u->writes) {
        u->next = writing;
        writing = u;
        rpc_after_wait(arrive);
    }
    pthread_mutex_unlock(&lock);
    (void)t;
    return CUDA_SUCCESS;
}

CUresult graph_host_settle(struct thread *t, uint64_t exec) {
    struct uses *u = notes_get(exec);

    return u ? wait(t, u) : CUDA_SUCCESS;
}

void graph_host_finish(struct thread *t, uint64_t exec) {
    struct uses *u = notes_get(exec);

    if (!u)
        return;
    wait(t, u);
    if (u->event)
        cuEventDestroy_v2(u->event);
    u->event = NULL;
}
