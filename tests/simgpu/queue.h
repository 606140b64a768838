/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams as queues. Each stream that was used has a thread that runs its operations in order; an
 * operation may also wait for operations of other streams. All waiting is for marks.
 */
#ifndef SIMGPU_QUEUE_H
#define SIMGPU_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"
#include "handle.h"

struct sim_context;
struct sim_capture;
struct sim_node;

/* The completion of one operation; counted references. */
struct sim_mark {
    atomic_uint refs;
    atomic_bool done;
    uint64_t time; /* when it was done, as sim_now(); valid once done */
};

struct sim_mark *sim_mark_ref(struct sim_mark *mark);
void sim_mark_put(struct sim_mark *mark);  /* NULL is fine */
void sim_mark_wait(struct sim_mark *mark); /* NULL: done long ago */

static inline bool sim_mark_done(struct sim_mark *mark) {
    return !mark || atomic_load_explicit(&mark->done, memory_order_acquire);
}

/* One operation. Whoever makes it embeds this at the start of what it needs to carry. */
struct sim_op {
    /* Does the work; an error becomes the context's lasting one. NULL: nothing to do. */
    CUresult (*run)(struct sim_op *op, struct sim_context *context);
    /* Ends the operation, whether it ran or not, and frees it. NULL: free() will do. */
    void (*release)(struct sim_op *op);
    bool always;          /* runs in a context with a fault too */
    CUgraphNodeType kind; /* of the node that it becomes in a captured stream */
    /* Says what it was asked to do; NULL: it cannot. */
    void (*tell)(const struct sim_op *op, CUgraphNodeParams *params);

    /* The queue's own. */
    struct sim_op *next;
    struct sim_mark *mark;
    struct sim_mark **waits; /* what must be done before, each a reference */
    unsigned wait_count;
};

/* Where a captured stream, or an event recorded in one, stands: after these nodes. */
struct sim_tips {
    struct sim_capture *capture; /* NULL: nowhere */
    struct sim_node **nodes;
    size_t count;
};

/* stream_attributes.c: what a program sets for a stream, under that file's lock. */
struct sim_stream_settings {
    CUaccessPolicyWindow window;
    int sync_policy;
    CUlaunchMemSyncDomain domain;
    CUlaunchMemSyncDomainMap domain_map;
};

struct sim_stream {
    struct sim_object object;
    struct sim_context *context;
    unsigned flags;
    atomic_int priority;
    struct sim_stream_settings settings;
    uint64_t id;
    struct sim_stream *next; /* in the context */
    struct sim_op *head, **tail;
    struct sim_mark *last; /* of the operation that was submitted last */
    pthread_cond_t wake;
    bool started, closing;
    unsigned depth;       /* operations that it holds */
    struct sim_tips tips; /* under the graphs' lock */
};

/* An operation of `size` bytes, zeroed. NULL: out of memory. */
void *sim_op_new(size_t size, CUresult (*run)(struct sim_op *op, struct sim_context *context));

/* Ends an operation that was not submitted. */
void sim_op_discard(struct sim_op *op);

/* Makes the operation wait for the mark; false: out of memory. */
bool sim_op_wait_for(struct sim_op *op, struct sim_mark *mark);

/*
 * Appends the operation, which the queue now owns, after whatever the default stream's rules put
 * before it. *mark (optional) receives a reference, or NULL if the stream is captured and the
 * operation became a node. On an error the operation is discarded.
 */
CUresult sim_submit(struct sim_stream *stream, struct sim_op *op, struct sim_mark **mark);

/* The same for a launch, copy or fill, for which there must be room, as in an H200's streams. */
CUresult sim_submit_with_room(struct sim_stream *stream, struct sim_op *op);

/* Appends the operation and waits for it; the context's error, if it has one by then. */
CUresult sim_submit_and_wait(struct sim_stream *stream, struct sim_op *op);

/* A stream of the context, without a handle. NULL: out of memory. */
struct sim_stream *sim_stream_new(struct sim_context *context, unsigned flags, int priority);

/* The last operation that was submitted, a reference; NULL: none. */
struct sim_mark *sim_stream_last(struct sim_stream *stream);

/* Ends the stream for its context and lets its thread go when the work is done. */
void sim_stream_close(struct sim_stream *stream);

/* Ends all streams of the context and returns when their threads have left it. */
void sim_context_close_streams(struct sim_context *context);

enum sim_which_streams {
    SIM_ALL_STREAMS,
    SIM_BLOCKING_STREAMS, /* the default stream, and those that keep its order */
};

/* Whether there is work in these streams that is not done. */
bool sim_context_busy(struct sim_context *context, enum sim_which_streams which);

/*
 * Marks of the work in these streams that is not done, references in an array to be freed.
 * false: out of memory.
 */
bool sim_context_marks(struct sim_context *context, enum sim_which_streams which,
                       struct sim_mark ***marks, unsigned *count);

/* Replaces the mark in *place, under the queues' lock. Takes over the reference. */
void sim_mark_store(struct sim_mark **place, struct sim_mark *mark);

/* The mark in *place, a reference; NULL: none. */
struct sim_mark *sim_mark_load(struct sim_mark **place);

#endif
