// SPDX-License-Identifier: Apache-2.0
/* Edges between the nodes of a graph. */
#include <string.h>

#include "cuda_calls.h"
#include "graph_node.h"
#include "guest.h"
#include "wire.h"

/* Edges that begin at `at`, as many as a record holds. */
static CUresult change_some(struct thread *t, CUgraph graph, bool remove,
                            const struct graph_edges *e, size_t at, size_t count) {
    CUgraphNode both[2 * GRAPH_EDGES_MAX];
    const CUgraphEdgeData *data = e->data ? e->data + at : NULL;

    memcpy(both, e->from + at, count * sizeof(*both));
    for (size_t i = 0; i < count; i++)
        both[count + i] = e->to ? e->to[at + i] : e->into;
    return wire_graph_dependencies(t, (uint64_t)graph, remove, both, 2 * count, data,
                                   data ? (uint32_t)(count * sizeof(*data)) : 0);
}

/* Those before `end`. *at: how far it came. */
static CUresult change_until(struct thread *t, CUgraph graph, bool remove,
                             const struct graph_edges *e, size_t *at, size_t end) {
    CUresult r = CUDA_SUCCESS;

    while (*at < end) {
        size_t count = end - *at < GRAPH_EDGES_MAX ? end - *at : GRAPH_EDGES_MAX;

        r = change_some(t, graph, remove, e, *at, count);
        if (r != CUDA_SUCCESS)
            break;
        *at += count;
    }
    return r;
}

CUresult graph_edges_change(struct thread *t, CUgraph graph, bool remove,
                            const struct graph_edges *e) {
    size_t done = 0, undone = 0;
    CUresult r = change_until(t, graph, remove, e, &done, e->count);

    if (r != CUDA_SUCCESS)
        change_until(t, graph, !remove, e, &undone, done);
    return r;
}

static CUresult change(CUgraph graph, bool remove, const CUgraphNode *from, const CUgraphNode *to,
                       const CUgraphEdgeData *data, size_t count) {
    struct graph_edges edges = {from, to, NULL, data, count};
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_GRAPH, graph);
    if (r != CUDA_SUCCESS || !count)
        return r;
    if (!from || !to)
        return CUDA_ERROR_INVALID_VALUE;
    return graph_edges_change(t, graph, remove, &edges);
}

VCUDA_EXPORT CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from,
                                                const CUgraphNode *to,
                                                const CUgraphEdgeData *edgeData,
                                                size_t numDependencies) {
    return change(hGraph, false, from, to, edgeData, numDependencies);
}

VCUDA_EXPORT CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from,
                                             const CUgraphNode *to, size_t numDependencies) {
    return change(hGraph, false, from, to, NULL, numDependencies);
}

VCUDA_EXPORT CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from,
                                                   const CUgraphNode *to,
                                                   const CUgraphEdgeData *edgeData,
                                                   size_t numDependencies) {
    return change(hGraph, true, from, to, edgeData, numDependencies);
}

VCUDA_EXPORT CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from,
                                                const CUgraphNode *to, size_t numDependencies) {
    return change(hGraph, true, from, to, NULL, numDependencies);
}
