// SPDX-License-Identifier: Apache-2.0
/* Stream capture: operations become nodes of a graph instead of entries of a queue. */
#include "capture.h"

#include <stdlib.h>
#include <string.h>

static struct sim_capture *captures;
static uint64_t last_id;

/* Nothing is captured. Without the lock: what begins at the same time begins later. */
static bool nowhere(void) {
    return !__atomic_load_n(&captures, __ATOMIC_ACQUIRE);
}

static void put(struct sim_capture *c) {
    if (c && --c->refs == 0)
        free(c);
}

void sim_tips_set(struct sim_tips *t, struct sim_capture *c, struct sim_node *const *nodes,
                  size_t count) {
    struct sim_node **copy = calloc(count + 1, sizeof(*copy));

    if (copy && count)
        memcpy(copy, nodes, count * sizeof(*copy));
    if (c)
        c->refs++;
    put(t->capture);
    free(t->nodes);
    t->capture = c;
    t->nodes = copy;
    t->count = copy ? count : 0;
}

static void clear_tips(struct sim_tips *t) {
    put(t->capture);
    free(t->nodes);
    memset(t, 0, sizeof(*t));
}

/* The capture that the stream is in; one that is over is none. */
struct sim_capture *sim_capture_of(struct sim_tips *t) {
    if (t->capture && t->capture->over)
        clear_tips(t);
    return t->capture;
}

void sim_tips_add(struct sim_tips *t, const struct sim_tips *more) {
    struct sim_node **nodes = calloc(t->count + more->count + 1, sizeof(*nodes));
    size_t count = t->count;

    if (!nodes)
        return;
    if (count)
        memcpy(nodes, t->nodes, count * sizeof(*nodes));
    for (size_t i = 0; i < more->count; i++) {
        bool there = false;

        for (size_t j = 0; j < count; j++)
            there = there || nodes[j] == more->nodes[i];
        if (!there)
            nodes[count++] = more->nodes[i];
    }
    free(t->nodes);
    t->nodes = nodes;
    t->count = count;
}

CUresult sim_capture_refuses_context(struct sim_context *context) {
    CUresult result = CUDA_SUCCESS;

    sim_graph_lock();
    for (struct sim_capture *c = captures; c; c = c->next) {
        if (c->origin->context != context)
            continue;
        c->invalid = true;
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    sim_graph_unlock();
    return result;
}

/* Whether the default stream of the context would wait for a captured one. */
bool sim_capture_hits(struct sim_stream *legacy, bool invalidate) {
    bool hit = false;

    for (struct sim_capture *c = captures; c; c = c->next) {
        if (c->origin->context != legacy->context || c->origin->flags & CU_STREAM_NON_BLOCKING)
            continue;
        hit = true;
        c->invalid = c->invalid || invalidate;
    }
    return hit;
}

bool sim_capture_takes(struct sim_stream *stream, struct sim_op *op, CUresult *result) {
    struct sim_capture *c;
    bool taken = true;

    if (nowhere())
        return false;
    sim_graph_lock();
    c = sim_capture_of(&stream->tips);
    if (!c) {
        taken = stream == stream->context->legacy && sim_capture_hits(stream, true);
        *result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    } else if (c->invalid) {
        *result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    } else {
        struct sim_node *node =
            sim_node_add(c->graph, op->kind, op, stream->tips.nodes, stream->tips.count);

        op = NULL;
        *result = node ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
        if (node)
            sim_tips_set(&stream->tips, c, &node, 1);
    }
    sim_graph_unlock();
    if (taken && op)
        sim_op_discard(op);
    return taken;
}

bool sim_capture_captures(struct sim_stream *stream) {
    bool captured;

    if (nowhere())
        return false;
    sim_graph_lock();
    captured = sim_capture_of(&stream->tips) != NULL;
    sim_graph_unlock();
    return captured;
}

CUresult sim_capture_refuses_wait(struct sim_stream *stream) {
    CUresult result = CUDA_SUCCESS;
    struct sim_capture *c;

    if (nowhere())
        return CUDA_SUCCESS;
    sim_graph_lock();
    c = sim_capture_of(&stream->tips);
    if (c) {
        result = c->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                            : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        c->invalid = true;
    } else if (stream == stream->context->legacy && sim_capture_hits(stream, true)) {
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    sim_graph_unlock();
    return result;
}

bool sim_capture_record(struct sim_stream *stream, struct sim_event *event) {
    struct sim_capture *c;

    sim_graph_lock();
    c = sim_capture_of(&stream->tips);
    event->captured = c != NULL;
    if (c)
        sim_tips_set(&event->tips, c, stream->tips.nodes, stream->tips.count);
    else
        clear_tips(&event->tips);
    sim_graph_unlock();
    return c != NULL;
}

bool sim_capture_wait(struct sim_stream *stream, struct sim_event *event, CUresult *result) {
    struct sim_capture *mine, *its;

    sim_graph_lock();
    mine = sim_capture_of(&stream->tips);
    its = sim_capture_of(&event->tips);
    *result = CUDA_SUCCESS;
    if (its && !mine) {
        sim_tips_set(&stream->tips, its, event->tips.nodes, event->tips.count);
    } else if (its && its == mine) {
        sim_tips_add(&stream->tips, &event->tips);
    } else if (its) {
        its->invalid = mine->invalid = true;
        *result = CUDA_ERROR_STREAM_CAPTURE_MERGE;
    } else if (mine) {
        mine->invalid = true;
        *result = CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    sim_graph_unlock();
    return mine || its;
}

CUresult sim_capture_refuses_event(struct sim_event *event) {
    CUresult result = CUDA_SUCCESS;
    struct sim_capture *c;

    sim_graph_lock();
    c = sim_capture_of(&event->tips);
    if (c && !c->invalid) {
        c->invalid = true;
        result = CUDA_ERROR_CAPTURED_EVENT;
    } else if (event->captured) {
        result = CUDA_ERROR_INVALID_VALUE;
    }
    sim_graph_unlock();
    return result;
}

void sim_capture_forget_event(struct sim_event *event) {
    sim_graph_lock();
    clear_tips(&event->tips);
    sim_graph_unlock();
}

/* Under the lock. Those who belong to it see that it is over. */
static void end(struct sim_capture *c) {
    struct sim_capture **at = &captures;

    while (*at && *at != c)
        at = &(*at)->next;
    if (*at)
        __atomic_store_n(at, c->next, __ATOMIC_RELEASE);
    c->over = true;
}

void sim_capture_forget_stream(struct sim_stream *stream) {
    struct sim_capture *c;

    sim_graph_lock();
    c = sim_capture_of(&stream->tips);
    if (c && c->origin == stream) {
        end(c);
        if (!c->given)
            sim_graph_close(c->graph);
    }
    clear_tips(&stream->tips);
    sim_graph_unlock();
}

static CUresult begin(CUstream handle, struct sim_graph *graph, struct sim_node *const *deps,
                      size_t count, CUstreamCaptureMode mode, bool per_thread) {
    SIM_AUTO struct sim_stream *stream = NULL;
    struct sim_capture *c;
    SIM_ENTER(context);
    CUresult result = sim_stream_get(context, handle, per_thread, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == context->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    c = calloc(1, sizeof(*c));
    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_graph_lock();
    if (sim_capture_of(&stream->tips)) {
        sim_graph_unlock();
        free(c);
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    c->given = graph != NULL;
    c->graph = graph ? graph : sim_graph_new();
    c->origin = stream;
    c->id = ++last_id;
    c->thread = pthread_self();
    c->mode = mode;
    c->next = captures;
    __atomic_store_n(&captures, c, __ATOMIC_RELEASE);
    sim_tips_set(&stream->tips, c, deps, count);
    sim_graph_unlock();
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
    return begin(hStream, NULL, NULL, 0, mode, false);
}

CUresult cuStreamBeginCapture_v2_ptsz(CUstream hStream, CUstreamCaptureMode mode) {
    return begin(hStream, NULL, NULL, 0, mode, true);
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                     const CUgraphNode *dependencies,
                                     const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                     CUstreamCaptureMode mode) {
    SIM_AUTO struct sim_graph *graph = sim_handle_get(hGraph, SIM_GRAPH);
    struct sim_node **nodes;
    CUresult result;

    if (!graph || (numDependencies && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    if (dependencyData)
        return CUDA_ERROR_NOT_SUPPORTED;
    result = sim_nodes_of(graph, dependencies, numDependencies, &nodes);
    if (result != CUDA_SUCCESS)
        return result;
    result = begin(hStream, graph, nodes, numDependencies, mode, false);
    free(nodes);
    return result;
}

/* Whether some node is followed by nothing, and the stream does not wait for it either. */
static bool unjoined(const struct sim_capture *c, const struct sim_tips *tips) {
    for (struct sim_node *n = c->graph->first; n && !c->given; n = n->next) {
        bool found = false;

        for (size_t i = 0; i < tips->count; i++)
            found = found || tips->nodes[i] == n;
        for (struct sim_node *m = c->graph->first; m && !found; m = m->next)
            for (size_t i = 0; i < m->dep_count; i++)
                found = found || m->deps[i].on == n;
        if (!found)
            return true;
    }
    return false;
}

static CUresult end_capture(CUstream handle, CUgraph *phGraph, bool per_thread) {
    SIM_AUTO struct sim_stream *stream = NULL;
    struct sim_capture *c;
    SIM_ENTER(context);
    CUresult result = sim_stream_get(context, handle, per_thread, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (!phGraph)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = NULL;
    sim_graph_lock();
    c = sim_capture_of(&stream->tips);
    if (!c) {
        result = CUDA_ERROR_ILLEGAL_STATE;
    } else if (c->origin != stream) {
        c->invalid = true;
        result = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    } else if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
               !pthread_equal(c->thread, pthread_self())) {
        result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    } else {
        if (c->invalid)
            result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        else if (unjoined(c, &stream->tips))
            result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
        end(c);
        if (result == CUDA_SUCCESS)
            *phGraph = SIM_HANDLE(c->graph);
        else if (!c->given)
            sim_graph_close(c->graph);
        clear_tips(&stream->tips);
    }
    sim_graph_unlock();
    return result;
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph) {
    return end_capture(hStream, phGraph, false);
}

CUresult cuStreamEndCapture_ptsz(CUstream hStream, CUgraph *phGraph) {
    return end_capture(hStream, phGraph, true);
}
