// SPDX-License-Identifier: Apache-2.0
#include "queue.h"

#include <signal.h>
#include <stdlib.h>

#include "graph.h"
#include "sim.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t progress = PTHREAD_COND_INITIALIZER; /* some mark is done */
static uint64_t last_stream_id;

/* What a stream holds when the next launch or copy waits. */
#define DEPTH_MAX 1021

struct sim_mark *sim_mark_ref(struct sim_mark *mark) {
    atomic_fetch_add_explicit(&mark->refs, 1, memory_order_relaxed);
    return mark;
}

void sim_mark_put(struct sim_mark *mark) {
    if (mark && atomic_fetch_sub_explicit(&mark->refs, 1, memory_order_acq_rel) == 1)
        free(mark);
}

static struct sim_mark *mark_new(void) {
    struct sim_mark *mark = calloc(1, sizeof(*mark));

    if (mark)
        atomic_init(&mark->refs, 1);
    return mark;
}

/* Under the lock. */
static void wait_locked(struct sim_mark *mark) {
    while (!sim_mark_done(mark))
        pthread_cond_wait(&progress, &lock);
}

void sim_mark_wait(struct sim_mark *mark) {
    if (sim_mark_done(mark))
        return;
    pthread_mutex_lock(&lock);
    wait_locked(mark);
    pthread_mutex_unlock(&lock);
}

void sim_mark_store(struct sim_mark **place, struct sim_mark *mark) {
    struct sim_mark *old;

    pthread_mutex_lock(&lock);
    old = *place;
    *place = mark;
    pthread_mutex_unlock(&lock);
    sim_mark_put(old);
}

struct sim_mark *sim_mark_load(struct sim_mark **place) {
    struct sim_mark *mark;

    pthread_mutex_lock(&lock);
    mark = *place ? sim_mark_ref(*place) : NULL;
    pthread_mutex_unlock(&lock);
    return mark;
}

void *sim_op_new(size_t size, CUresult (*run)(struct sim_op *op, struct sim_context *context)) {
    struct sim_op *op = calloc(1, size);

    if (op)
        op->run = run;
    return op;
}

static void drop_waits(struct sim_op *op) {
    for (unsigned i = 0; i < op->wait_count; i++)
        sim_mark_put(op->waits[i]);
    free(op->waits);
    op->waits = NULL;
    op->wait_count = 0;
}

void sim_op_discard(struct sim_op *op) {
    drop_waits(op);
    sim_mark_put(op->mark);
    if (op->release)
        op->release(op);
    else
        free(op);
}

bool sim_op_wait_for(struct sim_op *op, struct sim_mark *mark) {
    struct sim_mark **more;

    if (sim_mark_done(mark))
        return true;
    more = realloc(op->waits, (op->wait_count + 1) * sizeof(*more));
    if (!more)
        return false;
    op->waits = more;
    op->waits[op->wait_count++] = sim_mark_ref(mark);
    return true;
}

/*
 * The rule of the default stream: its operations wait for all earlier ones of the context, and
 * those of other streams wait for its own, unless they were created non-blocking.
 */
static bool add_default_stream_waits(struct sim_stream *stream, struct sim_op *op) {
    struct sim_context *context = stream->context;

    if (stream->flags & CU_STREAM_NON_BLOCKING)
        return true;
    if (stream != context->legacy)
        return sim_op_wait_for(op, context->legacy->last);
    for (struct sim_stream *other = context->streams; other; other = other->next)
        if (other != stream && !(other->flags & CU_STREAM_NON_BLOCKING) &&
            !sim_op_wait_for(op, other->last))
            return false;
    return true;
}

/* Runs the first operation of the queue; called and left with the lock held. */
static void run_first(struct sim_stream *stream) {
    struct sim_op *op = stream->head;
    struct sim_mark *mark = sim_mark_ref(op->mark);
    CUresult error;

    for (unsigned i = 0; i < op->wait_count; i++)
        wait_locked(op->waits[i]);
    pthread_mutex_unlock(&lock);

    if (op->run && (op->always || atomic_load(&stream->context->device->error) == CUDA_SUCCESS)) {
        error = op->run(op, stream->context);
        if (error != CUDA_SUCCESS)
            sim_context_fail(stream->context, error);
    }

    pthread_mutex_lock(&lock);
    stream->head = op->next;
    stream->depth--;
    if (!stream->head)
        stream->tail = &stream->head;
    pthread_mutex_unlock(&lock);
    /* Before anybody sees it done: who waited for it finds nothing held by it. */
    sim_op_discard(op);
    pthread_mutex_lock(&lock);
    mark->time = sim_now();
    atomic_store_explicit(&mark->done, true, memory_order_release);
    atomic_fetch_sub_explicit(&stream->context->working, 1, memory_order_release);
    pthread_cond_broadcast(&progress);
    sim_mark_put(mark);
}

/* Takes the stream out of its context, whose reference the caller then drops; under the lock. */
static void unlink_stream(struct sim_stream *stream) {
    struct sim_stream **link = &stream->context->streams;

    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    pthread_cond_broadcast(&progress);
}

/* A closed stream stays in its context until its work is done, so that others still wait for it. */
static void *stream_thread(void *argument) {
    struct sim_stream *stream = argument;

    pthread_mutex_lock(&lock);
    for (;;) {
        if (stream->head)
            run_first(stream);
        else if (stream->closing)
            break;
        else
            pthread_cond_wait(&stream->wake, &lock);
    }
    unlink_stream(stream);
    pthread_mutex_unlock(&lock);
    sim_put(stream); /* the context's */
    sim_put(stream); /* the thread's */
    return NULL;
}

/* Starts the stream's thread, which holds a reference. It takes none of the program's signals. */
static bool start_thread(struct sim_stream *stream) {
    sigset_t all, before;
    pthread_attr_t attr;
    pthread_t thread;
    bool good;

    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    sim_ref(stream);
    good = pthread_create(&thread, &attr, stream_thread, stream) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (!good)
        sim_put(stream);
    return good;
}

/* Under the lock. */
static CUresult append(struct sim_stream *stream, struct sim_op *op, struct sim_mark **mark) {
    if (stream->closing)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!sim_op_wait_for(op, stream->context->gate) || !add_default_stream_waits(stream, op))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!stream->started && !start_thread(stream))
        return CUDA_ERROR_OPERATING_SYSTEM;
    stream->started = true;
    *stream->tail = op;
    stream->tail = &op->next;
    stream->depth++;
    sim_mark_put(stream->last);
    stream->last = sim_mark_ref(op->mark);
    atomic_fetch_add_explicit(&stream->context->working, 1, memory_order_relaxed);
    if (mark)
        *mark = sim_mark_ref(op->mark);
    pthread_cond_signal(&stream->wake);
    return CUDA_SUCCESS;
}

CUresult sim_submit(struct sim_stream *stream, struct sim_op *op, struct sim_mark **mark) {
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

    if (mark)
        *mark = NULL;
    if (sim_capture_takes(stream, op, &result))
        return result;
    op->mark = mark_new();
    if (op->mark) {
        pthread_mutex_lock(&lock);
        result = append(stream, op, mark);
        pthread_mutex_unlock(&lock);
    }
    if (result != CUDA_SUCCESS)
        sim_op_discard(op);
    return result;
}

CUresult sim_submit_with_room(struct sim_stream *stream, struct sim_op *op) {
    pthread_mutex_lock(&lock);
    while (stream->depth >= DEPTH_MAX)
        pthread_cond_wait(&progress, &lock);
    pthread_mutex_unlock(&lock);
    return sim_submit(stream, op, NULL);
}

CUresult sim_submit_and_wait(struct sim_stream *stream, struct sim_op *op) {
    struct sim_mark *mark;
    CUresult result = sim_submit(stream, op, &mark);

    if (result != CUDA_SUCCESS)
        return result;
    sim_mark_wait(mark);
    sim_mark_put(mark);
    sim_print_flush(stream->context);
    return (CUresult)atomic_load(&stream->context->device->error);
}

static void destroy_stream(struct sim_object *object) {
    struct sim_stream *stream = (struct sim_stream *)object;

    sim_mark_put(stream->last);
    pthread_cond_destroy(&stream->wake);
    sim_put(stream->context);
    free(stream);
}

struct sim_stream *sim_stream_new(struct sim_context *context, unsigned flags, int priority) {
    struct sim_stream *stream = calloc(1, sizeof(*stream));

    if (!stream)
        return NULL;
    sim_object_init(&stream->object, SIM_STREAM, destroy_stream);
    stream->context = sim_ref(context);
    stream->flags = flags;
    stream->priority = priority;
    sim_stream_settings_start(&stream->settings);
    stream->tail = &stream->head;
    pthread_cond_init(&stream->wake, NULL);

    pthread_mutex_lock(&lock);
    stream->id = ++last_stream_id;
    stream->next = context->streams;
    context->streams = sim_ref(stream);
    pthread_mutex_unlock(&lock);
    return stream;
}

struct sim_mark *sim_stream_last(struct sim_stream *stream) {
    return sim_mark_load(&stream->last);
}

void sim_stream_close(struct sim_stream *stream) {
    bool unlinked = false;

    sim_capture_forget_stream(stream);
    sim_handle_close(&stream->object);
    pthread_mutex_lock(&lock);
    if (!stream->closing) {
        stream->closing = true;
        if (stream->started)
            pthread_cond_signal(&stream->wake);
        else
            unlink_stream(stream);
        unlinked = !stream->started;
    }
    pthread_mutex_unlock(&lock);
    if (unlinked)
        sim_put(stream);
}

/* A stream of the context that is still open, a reference, or NULL. */
static struct sim_stream *any_open(struct sim_context *context) {
    struct sim_stream *stream;

    pthread_mutex_lock(&lock);
    stream = context->streams;
    while (stream && stream->closing)
        stream = stream->next;
    if (stream)
        sim_ref(stream);
    pthread_mutex_unlock(&lock);
    return stream;
}

void sim_context_close_streams(struct sim_context *context) {
    struct sim_stream *stream;

    while ((stream = any_open(context))) {
        sim_stream_close(stream);
        sim_put(stream);
    }
    pthread_mutex_lock(&lock);
    while (context->streams)
        pthread_cond_wait(&progress, &lock);
    pthread_mutex_unlock(&lock);
}

static bool at_work(const struct sim_stream *stream, enum sim_which_streams which) {
    return !sim_mark_done(stream->last) &&
           (which == SIM_ALL_STREAMS || !(stream->flags & CU_STREAM_NON_BLOCKING));
}

bool sim_context_busy(struct sim_context *context, enum sim_which_streams which) {
    const struct sim_stream *stream;

    if (!atomic_load_explicit(&context->working, memory_order_acquire))
        return false;
    pthread_mutex_lock(&lock);
    stream = context->streams;
    while (stream && !at_work(stream, which))
        stream = stream->next;
    pthread_mutex_unlock(&lock);
    return stream != NULL;
}

/* Under the lock. */
static unsigned count_streams(const struct sim_context *context) {
    unsigned count = 0;

    for (const struct sim_stream *stream = context->streams; stream; stream = stream->next)
        count++;
    return count;
}

bool sim_context_marks(struct sim_context *context, enum sim_which_streams which,
                       struct sim_mark ***marks, unsigned *count) {
    struct sim_mark **all;

    *count = 0;
    pthread_mutex_lock(&lock);
    all = calloc(count_streams(context) + 1, sizeof(*all));
    for (struct sim_stream *stream = context->streams; all && stream; stream = stream->next)
        if (at_work(stream, which))
            all[(*count)++] = sim_mark_ref(stream->last);
    pthread_mutex_unlock(&lock);
    *marks = all;
    return all != NULL;
}
