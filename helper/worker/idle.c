// SPDX-License-Identifier: Apache-2.0
#include "idle.h"

#include "told.h"
#include "worker.h"

/* Streams noted at one time; a program that has more at work between two questions is busy. */
#define STREAMS_MAX 32

static uint64_t streams[STREAMS_MAX]; /* names */
static uint32_t stream_count;
static bool more;  /* than that, at some time */
static bool still; /* since the last question only what gives the GPU nothing to do */

#define NOWHERE UINT64_MAX

static uint64_t left_at_work = NOWHERE; /* a stream's name */

static void note_stream(uint64_t name) {
    for (uint32_t i = stream_count; i-- > 0;) {
        if (streams[i] == name)
            return;
    }
    if (stream_count == STREAMS_MAX)
        more = true;
    else
        streams[stream_count++] = name;
}

void idle_note(const struct dispatch *d, const struct frame *f) {
    uint64_t stream = d->stream ? frame_slot(f, d->stream - 1u) : 0;

    if (!d->still)
        still = false;
    if (!d->still && d->may_post)
        left_at_work = d->stream ? stream : NOWHERE;
    if (vcuda_name_kind(stream) == VCUDA_KIND_STREAM)
        note_stream(stream);
}

bool idle_just_left(uint64_t stream) {
    bool left = left_at_work == stream;

    idle_looked();
    return left;
}

void idle_looked(void) {
    left_at_work = NOWHERE;
}

static bool ended(struct worker *w, CUstream stream, uint64_t name, uint64_t context) {
    return told_query(w, stream, name, context) == CUDA_SUCCESS;
}

/* Strikes out those whose work has ended: whether all has. */
static bool streams_ended(struct worker *w, uint64_t context) {
    while (stream_count) {
        uint64_t name = streams[stream_count - 1];
        struct object stream;
        bool there = objects_get(&w->objects, VCUDA_KIND_STREAM, name, &stream);

        if (there && !ended(w, stream.native, name, context))
            return false;
        stream_count--;
        /* What was destroyed may still have work: whoever asked waits for that elsewhere. */
        if (!there)
            return false;
    }
    return true;
}

bool idle_now(struct worker *w, uint64_t context) {
    if (more || waiters_working() || objects_made(&w->objects, VCUDA_KIND_CONTEXT) != 1 ||
        worker_use_context(w, context) != CUDA_SUCCESS)
        return false;
    if (still)
        return true;
    /* A question ends a capture. */
    still = !capture_any() && ended(w, NULL, 0, context) && streams_ended(w, context);
    return still;
}
