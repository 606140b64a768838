// SPDX-License-Identifier: Apache-2.0
/* What is asked of a capture, and what its next node comes after. */
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "cuda_calls.h"
#include "graph.h"
#include "graph_node.h"
#include "guest.h"
#include "wire.h"

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

uint64_t capture_last_node(struct thread *t, uint64_t stream) {
    struct vcuda_graph_entry entry = {0};
    struct capture_info info = {0};
    uint32_t len;

    return wire_capture_info(t, stream, false, 0, &info.status, &info.id, &info.graph, &info.count,
                             &entry, sizeof(entry), &len) == CUDA_SUCCESS
               ? entry.node
               : 0;
}

/* What a capture's state was told in: good until the thread asks again. */
struct capture_lists {
    size_t room;
    CUgraphNode *nodes;
    CUgraphEdgeData *edges;
};

void capture_forget_lists(struct thread *t) {
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

CUresult capture_depend(struct thread *t, uint64_t stream, const CUgraphNode *nodes,
                        const CUgraphEdgeData *data, size_t from, size_t count) {
    CUresult r = CUDA_SUCCESS;

    while (from < count && r == CUDA_SUCCESS) {
        size_t n = count - from < GRAPH_EDGES_MAX ? count - from : GRAPH_EDGES_MAX;

        r = wire_cuStreamUpdateCaptureDependencies_v2(
            t, stream, nodes + from, n, data ? data + from : NULL,
            data ? (uint32_t)(n * sizeof(*data)) : 0, CU_STREAM_ADD_CAPTURE_DEPENDENCIES);
        from += n;
    }
    return r;
}

VCUDA_EXPORT CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream,
                                                           CUgraphNode *dependencies,
                                                           const CUgraphEdgeData *dependencyData,
                                                           size_t numDependencies,
                                                           unsigned int flags) {
    size_t count = numDependencies < GRAPH_EDGES_MAX ? numDependencies : GRAPH_EDGES_MAX;
    struct thread *t;
    uint64_t name;
    CUresult r = guest_enter_stream(&t, hStream, &name);

    if (r == CUDA_SUCCESS && numDependencies && !dependencies)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    r = wire_cuStreamUpdateCaptureDependencies_v2(
        t, name, dependencies, count, dependencyData,
        dependencyData ? (uint32_t)(count * sizeof(*dependencyData)) : 0, flags);
    return r == CUDA_SUCCESS && count < numDependencies
               ? capture_depend(t, name, dependencies, dependencyData, count, numDependencies)
               : r;
}

VCUDA_EXPORT CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies,
                                                        size_t numDependencies,
                                                        unsigned int flags) {
    return cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, NULL, numDependencies,
                                                flags);
}
