// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "cuda_calls.h"
#include "graph.h"
#include "guest.h"
#include "names.h"
#include "notes.h"
#include "wire.h"

struct capture {
    struct capture *next;
    uint64_t stream;
    struct thread *thread; /* that began it; NULL: it has ended */
    CUstreamCaptureMode mode;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture *captures;
uint32_t capture_count;

static bool add(struct thread *t, uint64_t stream, CUstreamCaptureMode mode) {
    struct capture *c = malloc(sizeof(*c));

    if (!c)
        return false;
    pthread_mutex_lock(&lock);
    *c = (struct capture){captures, stream, t, mode};
    captures = c;
    vcuda_store_once(&capture_count, capture_count + 1);
    pthread_mutex_unlock(&lock);
    return true;
}

/* Under the lock. */
static void take_out(struct capture **at) {
    struct capture *c = *at;

    *at = c->next;
    free(c);
    vcuda_store_once(&capture_count, capture_count - 1);
}

static void drop(uint64_t stream) {
    pthread_mutex_lock(&lock);
    for (struct capture **at = &captures; *at; at = &(*at)->next) {
        if ((*at)->stream == stream) {
            take_out(at);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

void capture_forget_ended(void) {
    if (!capture_any())
        return;
    pthread_mutex_lock(&lock);
    for (struct capture **at = &captures; *at;) {
        if (names_get(VCUDA_KIND_STREAM, (*at)->stream))
            at = &(*at)->next;
        else
            take_out(at);
    }
    pthread_mutex_unlock(&lock);
}

/* The streams whose captures forbid unsafe calls to the thread; false if there are none. */
static bool next_forbidding(const struct thread *t, uint32_t skip, uint64_t *stream) {
    bool found = false;

    if (t->capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    pthread_mutex_lock(&lock);
    for (struct capture *c = captures; c && !found; c = c->next) {
        bool forbids = c->thread == t ? c->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                                      : c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                            t->capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;

        found = forbids && !skip--;
        if (found)
            *stream = c->stream;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

CUresult capture_forbids(struct thread *t) {
    CUresult r = CUDA_SUCCESS;
    uint64_t stream;

    if (!capture_any())
        return CUDA_SUCCESS;
    for (uint32_t i = 0; next_forbidding(t, i, &stream); i++) {
        r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        /* A stream that was destroyed meanwhile has no capture any more. */
        wire_capture_invalidate(t, stream);
    }
    return r;
}

VCUDA_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    CUstreamCaptureMode before;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!mode || (unsigned int)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    before = t->capture_mode;
    t->capture_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

/* A capture that the driver has begun; without memory to remember it, it is not to be. */
static CUresult begun(struct thread *t, uint64_t stream, CUstreamCaptureMode mode) {
    uint64_t graph;

    if (add(t, stream, mode))
        return CUDA_SUCCESS;
    if (wire_cuStreamEndCapture(t, stream, &graph) == CUDA_SUCCESS)
        wire_cuGraphDestroy(t, graph);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

VCUDA_EXPORT CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r == CUDA_SUCCESS && (unsigned int)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = wire_cuStreamBeginCapture_v2(t, name);
    return r == CUDA_SUCCESS ? begun(t, name, mode) : r;
}

VCUDA_EXPORT CUresult cuStreamBeginCapture(CUstream hStream) {
    return cuStreamBeginCapture_v2(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

VCUDA_EXPORT CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                                  const CUgraphNode *dependencies,
                                                  const CUgraphEdgeData *dependencyData,
                                                  size_t numDependencies,
                                                  CUstreamCaptureMode mode) {
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_GRAPH, hGraph);
    if (r == CUDA_SUCCESS &&
        ((unsigned int)mode > CU_STREAM_CAPTURE_MODE_RELAXED || (numDependencies && !dependencies)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = wire_cuStreamBeginCaptureToGraph(
            t, name, (uint64_t)hGraph, dependencies, numDependencies, dependencyData,
            dependencyData ? (uint32_t)(numDependencies * sizeof(*dependencyData)) : 0);
    return r == CUDA_SUCCESS ? begun(t, name, mode) : r;
}

/* Whether only another thread may end what this stream captures. */
static bool of_other_thread(const struct thread *t, uint64_t stream) {
    bool other = false;

    pthread_mutex_lock(&lock);
    for (struct capture *c = captures; c; c = c->next) {
        if (c->stream == stream)
            other = c->thread != t && c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    }
    pthread_mutex_unlock(&lock);
    return other;
}

struct capture_info {
    int32_t status;
    uint64_t id, graph, count;
};

uint64_t capture_graph(struct thread *t, uint64_t stream) {
    struct capture_info info = {0};
    uint8_t none[8];
    uint32_t len;

    if (!capture_any() ||
        wire_capture_info(t, stream, false, 0, &info.status, &info.id, &info.graph, &info.count,
                          none, 0, &len) != CUDA_SUCCESS)
        return 0;
    return info.status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? info.graph : 0;
}

CUresult capture_forbids_on(struct thread *t, uint64_t stream) {
    return capture_any() && !capture_graph(t, stream) ? capture_forbids(t) : CUDA_SUCCESS;
}

/* While nothing is captured it needs no asking; after a fault the driver has the word. */
VCUDA_EXPORT CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus) {
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r != CUDA_SUCCESS)
        return r;
    if (!captureStatus)
        return CUDA_ERROR_INVALID_VALUE;
    if (capture_any() || guest_fault(t) != CUDA_SUCCESS)
        return wire_cuStreamIsCapturing(t, name, (int32_t *)captureStatus);
    *captureStatus = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph) {
    int32_t status = CU_STREAM_CAPTURE_STATUS_NONE;
    struct thread *t;
    uint64_t name, graph = 0, captured;
    bool wrong;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r != CUDA_SUCCESS)
        return r;
    wrong = of_other_thread(t, name);
    captured = capture_graph(t, name);
    r = wire_cuStreamEndCapture(t, name, &graph);
    if (r == CUDA_SUCCESS && wrong) { /* as native: it has ended, and nobody gets it */
        cuGraphDestroy((CUgraph)graph);
        graph = 0;
        r = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    }
    if (r != CUDA_SUCCESS)
        notes_end(captured); /* what was remembered of it */
    if (r == CUDA_SUCCESS || (wire_cuStreamIsCapturing(t, name, &status) == CUDA_SUCCESS &&
                              status == CU_STREAM_CAPTURE_STATUS_NONE))
        drop(name);
    /* Natively too it ends, and nobody gets the graph. */
    if (phGraph)
        *phGraph = (CUgraph)graph;
    else if (graph)
        cuGraphDestroy((CUgraph)graph);
    return r;
}

/* What a capture's state was told in: good until the thread asks again. */
struct capture_lists {
    size_t room;
    CUgraphNode *nodes;
    CUgraphEdgeData *edges;
};

void capture_forget_thread(struct thread *t) {
    pthread_mutex_lock(&lock);
    for (struct capture *c = captures; c; c = c->next) {
        if (c->thread == t)
            c->thread = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (t->capture_lists) {
        free(t->capture_lists->nodes);
        free(t->capture_lists->edges);
    }
    free(t->capture_lists);
}

static bool reach(struct thread *t, size_t room) {
    struct capture_lists *l = t->capture_lists;
    CUgraphEdgeData *edges;
    CUgraphNode *nodes;

    if (!l)
        l = t->capture_lists = calloc(1, sizeof(*l));
    if (!l)
        return false;
    if (room <= l->room)
        return true;
    nodes = realloc(l->nodes, room * sizeof(*nodes));
    if (nodes)
        l->nodes = nodes;
    edges = realloc(l->edges, room * sizeof(*edges));
    if (edges)
        l->edges = edges;
    if (!nodes || !edges)
        return false;
    l->room = room;
    return true;
}

/* Asks for all of it; the nodes go into the thread's lists, as many as there are. */
static CUresult ask(struct thread *t, uint64_t stream, bool edges, struct capture_info *info) {
    struct vcuda_graph_entry entries[VCUDA_GRAPH_ENTRIES_MAX];
    uint64_t first = 0;
    uint32_t len;
    CUresult r;

    do {
        r = wire_capture_info(t, stream, edges, first, &info->status, &info->id, &info->graph,
                              &info->count, entries, sizeof(entries), &len);
        if (r != CUDA_SUCCESS)
            return r;
        len /= sizeof(entries[0]);
        if (!reach(t, first + len + 1))
            return CUDA_ERROR_OUT_OF_MEMORY;
        for (uint32_t i = 0; i < len; i++, first++) {
            t->capture_lists->nodes[first] = (CUgraphNode)entries[i].node;
            memcpy(&t->capture_lists->edges[first], entries[i].edge, VCUDA_GRAPH_EDGE_BYTES);
        }
    } while (len && first < info->count);
    info->count = first;
    return CUDA_SUCCESS;
}

static CUresult get_info(CUstream stream, bool edges, CUstreamCaptureStatus *status, cuuint64_t *id,
                         struct capture_info *info, struct thread **t) {
    uint64_t name;
    CUresult r = guest_enter_stream(t, stream, &name);

    if (r == CUDA_SUCCESS && !status)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = ask(*t, name, edges, info);
    if (r != CUDA_SUCCESS)
        return r;
    *status = (CUstreamCaptureStatus)info->status;
    if (id && info->status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        *id = info->id;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuStreamGetCaptureInfo_v3(CUstream hStream,
                                                CUstreamCaptureStatus *captureStatus_out,
                                                cuuint64_t *id_out, CUgraph *graph_out,
                                                const CUgraphNode **dependencies_out,
                                                const CUgraphEdgeData **edgeData_out,
                                                size_t *numDependencies_out) {
    struct capture_info info = {0};
    struct thread *t;
    CUresult r = get_info(hStream, edgeData_out, captureStatus_out, id_out, &info, &t);

    if (r != CUDA_SUCCESS || info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return r;
    if (graph_out)
        *graph_out = (CUgraph)info.graph;
    if (dependencies_out)
        *dependencies_out = t->capture_lists->nodes;
    if (edgeData_out)
        *edgeData_out = t->capture_lists->edges;
    if (numDependencies_out)
        *numDependencies_out = info.count;
    return CUDA_SUCCESS;
}

VCUDA_EXPORT CUresult cuStreamGetCaptureInfo_v2(CUstream hStream,
                                                CUstreamCaptureStatus *captureStatus_out,
                                                cuuint64_t *id_out, CUgraph *graph_out,
                                                const CUgraphNode **dependencies_out,
                                                size_t *numDependencies_out) {
    return cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, graph_out,
                                     dependencies_out, NULL, numDependencies_out);
}

VCUDA_EXPORT CUresult cuStreamGetCaptureInfo(CUstream hStream,
                                             CUstreamCaptureStatus *captureStatus_out,
                                             cuuint64_t *id_out) {
    return cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, NULL, NULL, NULL, NULL);
}

VCUDA_EXPORT CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream,
                                                           CUgraphNode *dependencies,
                                                           const CUgraphEdgeData *dependencyData,
                                                           size_t numDependencies,
                                                           unsigned int flags) {
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r == CUDA_SUCCESS && numDependencies && !dependencies)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    return wire_cuStreamUpdateCaptureDependencies_v2(
        t, name, dependencies, numDependencies, dependencyData,
        dependencyData ? (uint32_t)(numDependencies * sizeof(*dependencyData)) : 0, flags);
}

VCUDA_EXPORT CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies,
                                                        size_t numDependencies,
                                                        unsigned int flags) {
    return cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, NULL, numDependencies,
                                                flags);
}
