// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <pthread.h>
#include <stdlib.h>

#include "barrier.h"
#include "cuda_calls.h"
#include "graph.h"
#include "graph_node.h"
#include "guest.h"
#include "names.h"
#include "notes.h"
#include "wire.h"

struct capture {
    struct capture *next;
    uint64_t number; /* of all that there have been: the next one's is higher */
    uint64_t stream;
    struct thread *thread; /* that began it; NULL: it has ended */
    CUstreamCaptureMode mode;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture *captures; /* the last one first */
static uint64_t begun_count;
uint32_t capture_count;

/* Graphs that are captured, of which something is remembered. */
static uint64_t *remembered;
static size_t remembered_count;

static bool add(struct thread *t, uint64_t stream, CUstreamCaptureMode mode) {
    struct capture *c = malloc(sizeof(*c));

    if (!c)
        return false;
    pthread_mutex_lock(&lock);
    *c = (struct capture){captures, ++begun_count, stream, t, mode};
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

/* Its capture is over, and it is a graph like others. */
static void release_graph(uint64_t graph) {
    pthread_mutex_lock(&lock);
    for (size_t i = remembered_count; i-- > 0;) {
        if (remembered[i] == graph)
            remembered[i] = remembered[--remembered_count];
    }
    pthread_mutex_unlock(&lock);
}

/* Captures have come to nothing: those of the graphs that the worker knows no more are ended. */
static void forget_graphs(struct thread *t) {
    for (size_t i = 0;; i++) {
        uint64_t graph = 0, all;
        uint32_t len;

        pthread_mutex_lock(&lock);
        if (i < remembered_count)
            graph = remembered[i];
        pthread_mutex_unlock(&lock);
        if (!graph)
            break;
        if (wire_graph_list(t, VCUDA_GRAPH_NODES, graph, 0, &all, NULL, 0, &len) !=
            CUDA_ERROR_INVALID_VALUE)
            continue;
        notes_end(graph);
        release_graph(graph);
        i--;
    }
}

CUresult capture_remember(uint64_t graph) {
    uint64_t *more;

    release_graph(graph);
    pthread_mutex_lock(&lock);
    more = realloc(remembered, (remembered_count + 1) * sizeof(*more));
    if (more) {
        remembered = more;
        remembered[remembered_count++] = graph;
    }
    pthread_mutex_unlock(&lock);
    return more ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void capture_forget_ended(void) {
    struct thread *t = guest_thread();

    if (!capture_any())
        return;
    if (t)
        forget_graphs(t);
    pthread_mutex_lock(&lock);
    for (struct capture **at = &captures; *at;) {
        if (names_get(VCUDA_KIND_STREAM, (*at)->stream))
            at = &(*at)->next;
        else
            take_out(at);
    }
    pthread_mutex_unlock(&lock);
}

/*
 * The stream of the last capture before number *before that forbids unsafe calls to the thread;
 * false: there is none. Others may begin and end meanwhile.
 */
static bool next_forbidding(const struct thread *t, uint64_t *before, uint64_t *stream) {
    bool found = false;

    if (t->capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    pthread_mutex_lock(&lock);
    for (struct capture *c = captures; c && !found; c = c->next) {
        bool forbids = c->thread == t ? c->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                                      : c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                            t->capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;

        found = forbids && c->number < *before;
        if (found) {
            *before = c->number;
            *stream = c->stream;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

CUresult capture_forbids(struct thread *t) {
    uint64_t stream, before = UINT64_MAX;
    CUresult r = CUDA_SUCCESS;

    if (!capture_any())
        return CUDA_SUCCESS;
    while (next_forbidding(t, &before, &stream)) {
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
    size_t count = numDependencies < GRAPH_EDGES_MAX ? numDependencies : GRAPH_EDGES_MAX;
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
            t, name, (uint64_t)hGraph, dependencies, count, dependencyData,
            dependencyData ? (uint32_t)(count * sizeof(*dependencyData)) : 0);
    if (r == CUDA_SUCCESS)
        r = begun(t, name, mode);
    if (r != CUDA_SUCCESS || count == numDependencies)
        return r;
    r = capture_depend(t, name, dependencies, dependencyData, count, numDependencies);
    if (r != CUDA_SUCCESS)
        cuStreamEndCapture(hStream, NULL);
    return r;
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
    uint64_t name, graph = 0;
    bool wrong;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r != CUDA_SUCCESS)
        return r;
    wrong = of_other_thread(t, name);
    r = wire_cuStreamEndCapture(t, name, &graph);
    release_graph(graph);
    if (r == CUDA_SUCCESS && wrong) { /* as native: it has ended, and nobody gets it */
        cuGraphDestroy((CUgraph)graph);
        graph = 0;
        r = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    }
    if (r != CUDA_SUCCESS)
        forget_graphs(t);
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

void capture_forget_thread(struct thread *t) {
    pthread_mutex_lock(&lock);
    for (struct capture *c = captures; c; c = c->next) {
        if (c->thread == t)
            c->thread = NULL;
    }
    pthread_mutex_unlock(&lock);
    capture_forget_lists(t);
}
