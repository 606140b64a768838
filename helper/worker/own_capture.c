// SPDX-License-Identifier: Apache-2.0
/*
 * Stream capture.
 *
 * The executor makes the calls of all of the guest's threads, so the driver's rules for threads
 * would hit the wrong ones: every capture is a relaxed one here, and the library keeps the rules.
 */
#include "cuda_errors.h"
#include "graphs.h"

/* Captures under way at one time; more are refused. */
#define CAPTURES_MAX 1024

/* Of the executor. */
static struct capture {
    uint64_t stream; /* name */
    CUgraph graph;   /* the driver's, not yet the guest's: NULL if it was given one to fill */
} captures[CAPTURES_MAX];
static uint32_t capture_count;

/* A stream that ended took its capture with it. */
static void drop(struct worker *w, uint32_t i) {
    if (captures[i].graph)
        objects_end_native(&w->objects, VCUDA_KIND_GRAPH, captures[i].graph);
    captures[i] = captures[--capture_count];
}

void capture_drop_ended(struct worker *w) {
    struct object s;

    for (uint32_t i = capture_count; i-- > 0;) {
        if (captures[i].stream &&
            !objects_get(&w->objects, VCUDA_KIND_STREAM, captures[i].stream, &s))
            drop(w, i);
    }
}

bool capture_any(void) {
    return capture_count != 0;
}

CUresult capture_refuses(struct worker *w, CUstream stream) {
    CUresult r;

    if (!capture_count)
        return CUDA_SUCCESS;
    /* Waiting for a capturing stream is an error that ends the capture; a query is the same. */
    r = w->driver.cuStreamQuery(stream);
    return cuda_error_of_capture(r) ? r : CUDA_SUCCESS;
}

/* Notes a capture that has begun. */
static void begun(struct worker *w, CUstream stream, uint64_t name, bool given) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = NULL;
    cuuint64_t id;

    if (!given && w->driver.cuStreamGetCaptureInfo_v3(stream, &status, &id, &graph, NULL, NULL,
                                                      NULL) != CUDA_SUCCESS)
        graph = NULL;
    captures[capture_count].stream = name;
    captures[capture_count++].graph = graph;
}

CUresult own_cuStreamBeginCapture_v2(struct worker *w, struct frame *f,
                                     struct args_cuStreamBeginCapture_v2 *a) {
    CUresult r;

    (void)f;
    if (capture_count == CAPTURES_MAX)
        return CUDA_ERROR_OUT_OF_MEMORY;
    r = w->driver.cuStreamBeginCapture_v2(a->hStream, CU_STREAM_CAPTURE_MODE_RELAXED);
    if (r == CUDA_SUCCESS)
        begun(w, a->hStream, a->hStream_name, false);
    return r;
}

CUresult graph_edges(const void *edges, uint32_t len, size_t count, const CUgraphEdgeData **out) {
    *out = len ? edges : NULL;
    return !len || len == count * sizeof(**out) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult own_cuStreamBeginCaptureToGraph(struct worker *w, struct frame *f,
                                         struct args_cuStreamBeginCaptureToGraph *a) {
    const CUgraphEdgeData *edges;
    CUresult r = graph_edges(a->edges, a->edges_len, a->dependencies_count, &edges);

    (void)f;
    if (r == CUDA_SUCCESS && capture_count == CAPTURES_MAX)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS)
        r = w->driver.cuStreamBeginCaptureToGraph(a->hStream, a->hGraph, a->dependencies, edges,
                                                  a->dependencies_count,
                                                  CU_STREAM_CAPTURE_MODE_RELAXED);
    if (r == CUDA_SUCCESS)
        begun(w, a->hStream, a->hStream_name, true);
    return r;
}

CUresult own_cuStreamEndCapture(struct worker *w, struct frame *f,
                                struct args_cuStreamEndCapture *a) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult r = w->driver.cuStreamEndCapture(a->hStream, &a->phGraph);

    (void)f;
    for (uint32_t i = 0; i < capture_count; i++) {
        if (captures[i].stream != a->hStream_name)
            continue;
        if (r == CUDA_SUCCESS) /* the graph is the guest's now, its name with it */
            captures[i].graph = NULL;
        else if (w->driver.cuStreamIsCapturing(a->hStream, &status) == CUDA_SUCCESS &&
                 status != CU_STREAM_CAPTURE_STATUS_NONE)
            break;
        drop(w, i);
        break;
    }
    return r;
}

CUresult own_capture_info(struct worker *w, struct frame *f, struct args_capture_info *a) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphEdgeData *edges = NULL;
    const CUgraphNode *nodes = NULL;
    struct graph_list list;
    cuuint64_t id = 0;
    size_t count = 0;
    CUresult r = w->driver.cuStreamGetCaptureInfo_v3(a->stream, &status, &id, &a->graph, &nodes,
                                                     a->edges ? &edges : NULL, &count);

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    a->status = status;
    if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        a->graph = NULL;
        return CUDA_SUCCESS;
    }
    a->id = id;
    a->count = count;
    list = (struct graph_list){nodes, NULL, edges, count};
    return graph_list_put(w, graph_name_of(w, a->graph, 0), &list, a->first, a->nodes, a->nodes_cap,
                          &a->nodes_len);
}

CUresult
own_cuStreamUpdateCaptureDependencies_v2(struct worker *w, struct frame *f,
                                         struct args_cuStreamUpdateCaptureDependencies_v2 *a) {
    const CUgraphEdgeData *edges;
    CUresult r = graph_edges(a->edges, a->edges_len, a->dependencies_count, &edges);

    (void)f;
    if (r != CUDA_SUCCESS)
        return r;
    return w->driver.cuStreamUpdateCaptureDependencies_v2(a->hStream, a->dependencies, edges,
                                                          a->dependencies_count, a->flags);
}

/* The library found that a rule for threads was broken: the capture is worth nothing any more. */
CUresult own_capture_invalidate(struct worker *w, struct frame *f,
                                struct args_capture_invalidate *a) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult r = w->driver.cuStreamIsCapturing(a->stream, &status);

    (void)f;
    if (r == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        w->driver.cuStreamQuery(a->stream);
    return r;
}
