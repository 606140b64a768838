// SPDX-License-Identifier: Apache-2.0
#include "hostfunc.h"

#include <pthread.h>
#include <stdlib.h>

#include "barrier.h"
#include "graph_host.h"
#include "guest.h"
#include "own_thread.h"
#include "pump.h"
#include "rpc.h"

struct entry {
    CUhostFn fn;               /* with `stream`, if it is launched into one; or: */
    CUstreamCallback callback; /* with `stream`; or: */
    CUstream stream;
    uint64_t behind;       /* the last graph that was launched there before */
    CUasyncCallback async; /* with `handle` */
    CUasyncCallbackHandle handle;
    void *data;
    uint32_t generation; /* upper half of the number */
    uint32_t next;       /* index + 1: of the free ones, or of those kept */
    bool live, kept;
};

struct request {
    struct request *next;
    uint64_t id;
    uint32_t place, serial;
    CUresult status;
    bool last;
    CUasyncNotificationInfo info;
};

#define KEPT_BUCKETS 256u

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work; /* there is a number, or a request */
    struct entry *entries;
    uint32_t room, free; /* free: index + 1 */
    uint32_t live;
    uint32_t kept[KEPT_BUCKETS]; /* index + 1 */
    struct request *first, **end;
    uint32_t requests;
    bool started;
} funcs = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .end = &funcs.first,
};

/* Of the function that this thread runs. */
static __thread CUstream its_stream;
static __thread CUresult its_status;

static struct entry *find(uint64_t id) {
    uint32_t index = (uint32_t)id;
    struct entry *e;

    if (!index || index > funcs.room)
        return NULL;
    e = &funcs.entries[index - 1];
    return e->live && e->generation == (uint32_t)(id >> 32) ? e : NULL;
}

static uint64_t number_of(const struct entry *e) {
    return (uint64_t)e->generation << 32 | (uint64_t)(e - funcs.entries + 1);
}

static void drop(uint64_t id) {
    struct entry *e = find(id);

    if (!e || e->kept)
        return;
    e->live = false;
    e->next = funcs.free;
    funcs.free = (uint32_t)id;
    vcuda_store_release(&funcs.live, funcs.live - 1);
}

static void run(const struct entry *e, struct request *q) {
    /* One that lives on is of a graph, which captured it there and may run anywhere. */
    its_stream = q->last ? e->stream : NULL;
    its_status = q->status != CUDA_SUCCESS ? q->status : CUDA_ERROR_NOT_READY;
    guest_inside_host_function(true);
    if (e->fn)
        e->fn(e->data);
    else if (e->callback)
        e->callback(e->stream, q->status, e->data);
    else
        e->async(&q->info, e->data, e->handle);
    guest_inside_host_function(false);
    its_stream = NULL;
}

/* Under the lock, which it gives up meanwhile. */
static void serve(struct request *q) {
    struct entry *e = find(q->id), copy;

    if (e) {
        copy = *e;
        if (q->last)
            drop(q->id);
        pthread_mutex_unlock(&funcs.lock);
        if (q->place < VCUDA_HOST_PLACES) /* it has a place in a stream, or in a graph */
            graph_host_before_function(q->last ? copy.behind : 0);
        run(&copy, q);
        if (q->place < VCUDA_HOST_PLACES)
            graph_host_after_function();
        pthread_mutex_lock(&funcs.lock);
    }
    /* Said also of one that is not known: the driver's thread waits. */
    if (q->place < VCUDA_HOST_PLACES)
        rpc_host_done(q->place, q->serial);
}

/* Under the lock, or where a change is told by pump_stop_listening(). */
static bool something_to_do(void) {
    return vcuda_load_acquire(&funcs.requests) || !vcuda_load_acquire(&funcs.live);
}

/* Sleeps in the session while a function may be called, else only here. */
static void *callback_thread(void *unused) {
    pthread_mutex_lock(&funcs.lock);
    while (!rpc_lost()) {
        struct request *q = funcs.first;

        if (q) {
            funcs.first = q->next;
            if (!funcs.first)
                funcs.end = &funcs.first;
            vcuda_store_release(&funcs.requests, funcs.requests - 1);
            serve(q);
            free(q);
        } else if (!funcs.live) {
            pthread_cond_wait(&funcs.work, &funcs.lock);
        } else {
            pthread_mutex_unlock(&funcs.lock);
            pump_listen(something_to_do);
            pthread_mutex_lock(&funcs.lock);
        }
    }
    pthread_mutex_unlock(&funcs.lock);
    return unused;
}

/* Under the lock. */
static bool start_thread(void) {
    if (!funcs.started)
        funcs.started = own_thread_start(callback_thread);
    return funcs.started;
}

/* Under the lock. */
static bool grow(void) {
    uint32_t room = funcs.room ? 2 * funcs.room : 64;
    struct entry *entries = realloc(funcs.entries, room * sizeof(*entries));

    if (!entries)
        return false;
    funcs.entries = entries;
    for (uint32_t i = room; i-- > funcs.room;) {
        entries[i] = (struct entry){.next = funcs.free};
        funcs.free = i + 1;
    }
    funcs.room = room;
    return true;
}

static uint64_t add(const struct entry *what) {
    struct entry *e;
    uint64_t id = 0;

    pthread_mutex_lock(&funcs.lock);
    if (start_thread() && (funcs.free || grow())) {
        uint32_t index = funcs.free, generation;

        e = &funcs.entries[index - 1];
        funcs.free = e->next;
        generation = e->generation + 1;
        *e = *what;
        e->generation = generation;
        e->live = true;
        id = (uint64_t)generation << 32 | index;
        vcuda_store_release(&funcs.live, funcs.live + 1);
        pthread_cond_signal(&funcs.work);
    }
    pthread_mutex_unlock(&funcs.lock);
    return id;
}

uint64_t hostfunc_register(CUhostFn fn, void *data) {
    return add(&(struct entry){.fn = fn, .data = data});
}

uint64_t hostfunc_register_launch(CUhostFn fn, CUstream stream, void *data, uint64_t behind) {
    return add(&(struct entry){.fn = fn, .stream = stream, .behind = behind, .data = data});
}

uint64_t hostfunc_register_callback(CUstreamCallback callback, CUstream stream, void *data,
                                    uint64_t behind) {
    return add(
        &(struct entry){.callback = callback, .stream = stream, .behind = behind, .data = data});
}

/* Under the lock. */
static uint32_t *bucket_of(const struct entry *e) {
    uint64_t h = ((uintptr_t)e->fn ^ (uintptr_t)e->data) * 0x9e3779b97f4a7c15u;

    return &funcs.kept[h >> 32 & (KEPT_BUCKETS - 1)];
}

/* Under the lock: the one that is kept for the same; NULL: none is. */
static struct entry *kept_like(const struct entry *e) {
    for (uint32_t i = *bucket_of(e); i; i = funcs.entries[i - 1].next) {
        struct entry *k = &funcs.entries[i - 1];

        if (k->fn == e->fn && k->data == e->data)
            return k;
    }
    return NULL;
}

uint64_t hostfunc_keep(uint64_t id) {
    struct entry *e, *like;

    pthread_mutex_lock(&funcs.lock);
    e = find(id);
    like = e ? kept_like(e) : NULL;
    if (like) {
        drop(id);
        id = number_of(like);
    } else if (e) {
        e->kept = true;
        e->next = *bucket_of(e);
        *bucket_of(e) = (uint32_t)id;
    }
    pthread_mutex_unlock(&funcs.lock);
    return id;
}

static void function_ended(void *id) {
    hostfunc_drop((uint64_t)(uintptr_t)id);
}

uint64_t hostfunc_register_end(uint64_t id) {
    return hostfunc_register(function_ended, (void *)(uintptr_t)id);
}

uint64_t hostfunc_register_async(CUasyncCallback callback, void *data) {
    return add(&(struct entry){.async = callback, .data = data});
}

void hostfunc_set_handle(uint64_t id, CUasyncCallbackHandle handle) {
    struct entry *e;

    pthread_mutex_lock(&funcs.lock);
    e = find(id);
    if (e)
        e->handle = handle;
    pthread_mutex_unlock(&funcs.lock);
}

uint64_t hostfunc_by_handle(CUasyncCallbackHandle handle) {
    uint64_t id = 0;

    pthread_mutex_lock(&funcs.lock);
    for (uint32_t i = 0; i < funcs.room && !id; i++) {
        const struct entry *e = &funcs.entries[i];

        if (e->live && e->async && e->handle == handle)
            id = number_of(e);
    }
    pthread_mutex_unlock(&funcs.lock);
    return id;
}

void hostfunc_drop(uint64_t id) {
    bool idle;

    pthread_mutex_lock(&funcs.lock);
    drop(id);
    idle = !funcs.live;
    pthread_mutex_unlock(&funcs.lock);
    if (idle)
        pump_stop_listening();
}

bool hostfunc_any(void) {
    return vcuda_load_acquire(&funcs.live) != 0;
}

bool hostfunc_find(uint64_t id, CUhostFn *fn, void **data) {
    struct entry *e;

    pthread_mutex_lock(&funcs.lock);
    e = find(id);
    if (e) {
        *fn = e->fn;
        *data = e->data;
    }
    pthread_mutex_unlock(&funcs.lock);
    return e != NULL;
}

bool hostfunc_runs_in(CUstream stream, CUresult *status) {
    *status = its_status;
    return stream && stream == its_stream;
}

bool hostfunc_called(const struct message *m) {
    struct request *q = malloc(sizeof(*q));
    bool ok;

    if (!q)
        return false;
    if (m->what == VCUDA_MESSAGE_HOST)
        *q = (struct request){.id = m->host.id,
                              .place = m->host.place,
                              .serial = m->host.serial,
                              .status = m->host.status,
                              .last = m->host.last};
    else
        *q = (struct request){.id = m->async.id, .place = VCUDA_HOST_PLACES, .info = m->async.info};
    pthread_mutex_lock(&funcs.lock);
    ok = funcs.requests < funcs.live + VCUDA_HOST_PLACES;
    if (ok) {
        *funcs.end = q;
        funcs.end = &q->next;
        vcuda_store_release(&funcs.requests, funcs.requests + 1);
        pthread_cond_signal(&funcs.work);
    }
    pthread_mutex_unlock(&funcs.lock);
    if (ok)
        pump_stop_listening();
    else
        free(q);
    return ok;
}
