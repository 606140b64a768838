// SPDX-License-Identifier: Apache-2.0
/* What a program asks of captures, and how it steers one. */
#include "capture.h"

#include <stdlib.h>
#include <string.h>

static __thread CUstreamCaptureMode thread_mode;

/* The nodes of handles, without references: they live as long as their graph. */
CUresult sim_nodes_of(const struct sim_graph *graph, const CUgraphNode *handles, size_t count,
                      struct sim_node ***nodes) {
    CUresult result = CUDA_SUCCESS;

    *nodes = calloc(count + 1, sizeof(**nodes));
    if (!*nodes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        SIM_AUTO struct sim_node *node = sim_handle_get(handles[i], SIM_NODE);

        (*nodes)[i] = node;
        if (!node || node->graph != graph)
            result = CUDA_ERROR_INVALID_VALUE;
    }
    if (result != CUDA_SUCCESS)
        free(*nodes);
    return result;
}

/* What the caller was told last; good until it asks again. */
static __thread CUgraphNode told[256];
static __thread CUgraphEdgeData told_edges[256];

static CUresult info(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                     const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t *count) {
    SIM_AUTO struct sim_stream *stream = NULL;
    struct sim_capture *c;
    SIM_ENTER(context);
    CUresult result = sim_stream_get(context, handle, false, &stream);

    if (result == CUDA_SUCCESS && !status)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    sim_graph_lock();
    c = sim_capture_of(&stream->tips);
    if (!c && stream == context->legacy && sim_capture_hits(stream, false))
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *status = !c           ? CU_STREAM_CAPTURE_STATUS_NONE
              : c->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                           : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (*status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        if (id)
            *id = c->id;
        if (graph)
            *graph = SIM_HANDLE(c->graph);
        if (stream->tips.count > sizeof(told) / sizeof(told[0]))
            result = CUDA_ERROR_NOT_SUPPORTED;
        for (size_t i = 0; i < stream->tips.count && result == CUDA_SUCCESS; i++)
            told[i] = SIM_HANDLE(stream->tips.nodes[i]);
        if (nodes)
            *nodes = told;
        if (edges)
            *edges = told_edges;
        if (count)
            *count = stream->tips.count;
    }
    sim_graph_unlock();
    return result;
}

CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                   cuuint64_t *id_out, CUgraph *graph_out,
                                   const CUgraphNode **dependencies_out,
                                   const CUgraphEdgeData **edgeData_out,
                                   size_t *numDependencies_out) {
    return info(hStream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
                numDependencies_out);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                   cuuint64_t *id_out, CUgraph *graph_out,
                                   const CUgraphNode **dependencies_out,
                                   size_t *numDependencies_out) {
    return info(hStream, captureStatus_out, id_out, graph_out, dependencies_out, NULL,
                numDependencies_out);
}

CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                cuuint64_t *id_out) {
    return info(hStream, captureStatus_out, id_out, NULL, NULL, NULL, NULL);
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus) {
    return info(hStream, captureStatus, NULL, NULL, NULL, NULL, NULL);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies,
                                              const CUgraphEdgeData *dependencyData,
                                              size_t numDependencies, unsigned int flags) {
    SIM_AUTO struct sim_stream *stream = NULL;
    struct sim_node **nodes = NULL;
    struct sim_capture *c;
    SIM_ENTER(context);
    CUresult result = sim_stream_get(context, hStream, false, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (numDependencies && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    if (dependencyData)
        return CUDA_ERROR_NOT_SUPPORTED;
    sim_graph_lock();
    c = sim_capture_of(&stream->tips);
    if (!c)
        result = CUDA_ERROR_ILLEGAL_STATE;
    else if (c->invalid)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else
        result = sim_nodes_of(c->graph, dependencies, numDependencies, &nodes);
    if (result == CUDA_SUCCESS && flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        sim_tips_set(&stream->tips, c, nodes, numDependencies);
    else if (result == CUDA_SUCCESS)
        sim_tips_add(&stream->tips, &(struct sim_tips){NULL, nodes, numDependencies});
    if (result == CUDA_SUCCESS)
        free(nodes);
    sim_graph_unlock();
    return result;
}

CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies,
                                           size_t numDependencies, unsigned int flags) {
    return cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, NULL, numDependencies,
                                                flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    CUstreamCaptureMode before = thread_mode;

    SIM_READY();
    if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
