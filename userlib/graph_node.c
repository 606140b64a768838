// SPDX-License-Identifier: Apache-2.0
/* Nodes added, by the one call that takes all kinds and by those that take one. */
#include "graph_node.h"

#include <stdlib.h>
#include <string.h>

#include "cuda_calls.h"
#include "graph_host.h"
#include "notes.h"
#include "ranges.h"
#include "wire.h"

/* Where a node goes. */
struct site {
    CUgraphNode *out;
    CUgraph graph;
    const CUgraphNode *dependencies;
    const CUgraphEdgeData *edges;
    size_t count;
};

/* What the node brought into being: memory at an address, or graphs. */
static CUresult take_made(struct thread *t, const struct site *s, CUgraphNodeParams *p,
                          const uint64_t *made, uint32_t count) {
    uint64_t *graphs;

    if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
        if (count != 1)
            return VCUDA_ERROR_LOST;
        p->alloc.dptr = made[0];
        ranges_add(RANGE_GRAPH, made[0], p->alloc.bytesize, t->context);
    }
    if (p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
        if (count != p->conditional.size)
            return VCUDA_ERROR_LOST;
        graphs = node_memory((uint64_t)*s->out, (uint64_t)s->graph, count * sizeof(*graphs));
        if (!graphs)
            return CUDA_ERROR_OUT_OF_MEMORY;
        memcpy(graphs, made, count * sizeof(*graphs));
        for (uint32_t i = 0; i < count; i++) {
            if (!node_owns((uint64_t)*s->out, (uint64_t)s->graph, (CUgraph)graphs[i]))
                return CUDA_ERROR_OUT_OF_MEMORY;
        }
        p->conditional.phGraph_out = (CUgraph *)graphs;
    }
    return CUDA_SUCCESS;
}

/* What is in a graph that became part of another one. */
static CUresult take_child(uint64_t graph, uint64_t node, const CUgraphNodeParams *p) {
    CUgraph child = p->graph.graph;
    CUresult r = graph_host_inherit(graph, (uint64_t)child, node);

    if (r == CUDA_SUCCESS && p->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE &&
        !node_owns(node, graph, child))
        r = CUDA_ERROR_OUT_OF_MEMORY;
    return r;
}

/* More dependencies than go with the node: without them it is not to be. */
static CUresult depend_on_rest(struct thread *t, const struct site *s, CUgraphNode node,
                               size_t first) {
    struct graph_edges edges = {s->dependencies + first, NULL, node,
                                s->edges ? s->edges + first : NULL, s->count - first};
    CUresult r = graph_edges_change(t, s->graph, false, &edges);

    if (r != CUDA_SUCCESS)
        wire_cuGraphDestroyNode(t, (uint64_t)node);
    return r;
}

static CUresult send(struct thread *t, const struct site *s, CUgraphNodeParams *p) {
    uint64_t made[VCUDA_NODE_BODIES_MAX], name;
    size_t count = s->count < GRAPH_EDGES_MAX ? s->count : GRAPH_EDGES_MAX;
    struct node_record record;
    uint32_t len = 0;
    CUresult r = node_write(t, p, (uint64_t)s->graph, 0, &record);

    if (r != CUDA_SUCCESS)
        return r;
    r = wire_graph_node_add(t, (uint64_t)s->graph, s->dependencies, count, s->edges,
                            s->edges ? (uint32_t)(count * sizeof(*s->edges)) : 0, &record,
                            node_bytes(&record), &name, made, sizeof(made), &len);
    if (r == CUDA_SUCCESS && count < s->count)
        r = depend_on_rest(t, s, (CUgraphNode)name, count);
    if (r != CUDA_SUCCESS) {
        node_drop((uint64_t)s->graph, &record);
        return r;
    }
    *s->out = (CUgraphNode)name;
    node_keep_form(*s->out, (uint64_t)s->graph, p);
    if (p->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        graph_host_settled((uint64_t)s->graph, name, &record.held);
    if (p->type == CU_GRAPH_NODE_TYPE_GRAPH)
        r = take_child((uint64_t)s->graph, name, p);
    if (r != CUDA_SUCCESS)
        return r;
    return take_made(t, s, p, made, len / sizeof(made[0]));
}

static CUresult add(const struct site *s, CUgraphNodeParams *p) {
    struct thread *t;
    CUresult r = p->type == CU_GRAPH_NODE_TYPE_EMPTY ? guest_enter_any(&t) : guest_enter(&t);

    if (r != CUDA_SUCCESS)
        return r;
    if (!s->out || (s->count && !s->dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    r = guest_check(VCUDA_KIND_GRAPH, s->graph);
    return r == CUDA_SUCCESS ? send(t, s, p) : r;
}

VCUDA_EXPORT CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                                        const CUgraphNode *dependencies,
                                        const CUgraphEdgeData *dependencyData,
                                        size_t numDependencies, CUgraphNodeParams *nodeParams) {
    struct site s = {phGraphNode, hGraph, dependencies, dependencyData, numDependencies};

    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < sizeof(nodeParams->reserved0) / sizeof(int); i++) {
        if (nodeParams->reserved0[i])
            return CUDA_ERROR_INVALID_VALUE;
    }
    return nodeParams->reserved2 ? CUDA_ERROR_INVALID_VALUE : add(&s, nodeParams);
}

VCUDA_EXPORT CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                     const CUgraphNode *dependencies, size_t numDependencies,
                                     CUgraphNodeParams *nodeParams) {
    return cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, NULL, numDependencies, nodeParams);
}

/* A kind whose parameters are the ones of its own call. */
static CUresult add_kind(const struct site *s, CUgraphNodeType type, const void *params,
                         size_t bytes) {
    CUgraphNodeParams p = {.type = type};

    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&p.kernel, params, bytes); /* a union */
    return add(s, &p);
}

#define SITE ((struct site){phGraphNode, hGraph, dependencies, NULL, numDependencies})

VCUDA_EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                                              const CUgraphNode *dependencies,
                                              size_t numDependencies,
                                              const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    return add_kind(&SITE, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, sizeof(*nodeParams));
}

VCUDA_EXPORT CUresult cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                           const CUgraphNode *dependencies, size_t numDependencies,
                                           const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams) {
    return add_kind(&SITE, CU_GRAPH_NODE_TYPE_KERNEL, nodeParams, sizeof(*nodeParams));
}

VCUDA_EXPORT CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                           const CUgraphNode *dependencies, size_t numDependencies,
                                           const CUDA_MEMCPY3D *copyParams, CUcontext ctx) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};

    if (!copyParams)
        return CUDA_ERROR_INVALID_VALUE;
    p.memcpy.copyCtx = ctx;
    p.memcpy.copyParams = *copyParams;
    return add(&SITE, &p);
}

VCUDA_EXPORT CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                           const CUgraphNode *dependencies, size_t numDependencies,
                                           const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                                           CUcontext ctx) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMSET};

    if (!memsetParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&p.memset, memsetParams, sizeof(*memsetParams));
    p.memset.ctx = ctx;
    return add(&SITE, &p);
}

VCUDA_EXPORT CUresult cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                         const CUgraphNode *dependencies, size_t numDependencies,
                                         const CUDA_HOST_NODE_PARAMS *nodeParams) {
    return add_kind(&SITE, CU_GRAPH_NODE_TYPE_HOST, nodeParams, sizeof(*nodeParams));
}

VCUDA_EXPORT CUresult cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                               const CUgraphNode *dependencies,
                                               size_t numDependencies, CUgraph childGraph) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {.graph = childGraph}};

    return add(&SITE, &p);
}

VCUDA_EXPORT CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                          const CUgraphNode *dependencies, size_t numDependencies) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_EMPTY};

    return add(&SITE, &p);
}

VCUDA_EXPORT CUresult cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                                const CUgraphNode *dependencies,
                                                size_t numDependencies, CUevent event) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord = {event}};

    return add(&SITE, &p);
}

VCUDA_EXPORT CUresult cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                              const CUgraphNode *dependencies,
                                              size_t numDependencies, CUevent event) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .eventWait = {event}};

    return add(&SITE, &p);
}

VCUDA_EXPORT CUresult cuGraphAddBatchMemOpNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                               const CUgraphNode *dependencies,
                                               size_t numDependencies,
                                               const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams) {
    return add_kind(&SITE, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams, sizeof(*nodeParams));
}

VCUDA_EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                             const CUgraphNode *dependencies,
                                             size_t numDependencies,
                                             CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    CUresult r;

    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&p.alloc, nodeParams, sizeof(*nodeParams));
    r = add(&SITE, &p);
    if (r == CUDA_SUCCESS)
        nodeParams->dptr = p.alloc.dptr;
    return r;
}

VCUDA_EXPORT CUresult cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                            const CUgraphNode *dependencies, size_t numDependencies,
                                            CUdeviceptr dptr) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free = {dptr}};

    return add(&SITE, &p);
}
