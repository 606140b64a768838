// SPDX-License-Identifier: Apache-2.0
/* Edges between the nodes of a graph. */
#include <stdlib.h>
#include <string.h>

#include "cuda_calls.h"
#include "guest.h"
#include "wire.h"

static CUresult change(CUgraph graph, bool remove, const CUgraphNode *from, const CUgraphNode *to,
                       const CUgraphEdgeData *edges, size_t count) {
    CUgraphNode *both;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_GRAPH, graph);
    if (r != CUDA_SUCCESS || !count)
        return r;
    if (!from || !to || count > SIZE_MAX / 2 / sizeof(*both))
        return CUDA_ERROR_INVALID_VALUE;
    both = malloc(2 * count * sizeof(*both));
    if (!both)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(both, from, count * sizeof(*both));
    memcpy(both + count, to, count * sizeof(*both));
    r = wire_graph_dependencies(t, (uint64_t)graph, remove, both, 2 * count, edges,
                                edges ? (uint32_t)(count * sizeof(*edges)) : 0);
    free(both);
    return r;
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
