// SPDX-License-Identifier: Apache-2.0
/* Graphs: their lists, their copies, what is made of them. */
#include <stdlib.h>

#include "graphs.h"
#include "pools.h"

uint64_t graph_name_of(struct worker *w, CUgraph graph, uint64_t owner) {
    struct object o = {.native = graph, .owner = owner};

    return graph ? objects_name(&w->objects, VCUDA_KIND_GRAPH, &o) : 0;
}

uint64_t graph_node_name(struct worker *w, CUgraphNode node, uint64_t owner) {
    struct object o = {.native = node, .owner = owner};

    return node ? objects_name(&w->objects, VCUDA_KIND_NODE, &o) : 0;
}

uint64_t graph_owner_of(struct worker *w, uint64_t node) {
    struct object o;

    return objects_get(&w->objects, VCUDA_KIND_NODE, node, &o) ? o.owner : 0;
}

CUresult graph_list_put(struct worker *w, uint64_t owner, const struct graph_list *list,
                        uint64_t first, void *out, uint32_t cap, uint32_t *len) {
    struct vcuda_graph_entry *entry = out;
    size_t room = cap / sizeof(*entry);

    if (!owner && list->count)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *len = 0;
    for (size_t i = first; i < list->count && i - first < room; i++, entry++) {
        entry->node = graph_node_name(w, list->nodes[i], owner);
        entry->other = list->others ? graph_node_name(w, list->others[i], owner) : 0;
        if (!entry->node || (list->others && !entry->other))
            return CUDA_ERROR_OUT_OF_MEMORY;
        if (list->edges)
            memcpy(entry->edge, &list->edges[i], sizeof(entry->edge));
        *len += (uint32_t)sizeof(*entry);
    }
    return CUDA_SUCCESS;
}

/* Asks the driver for a list: with NULLs for its length. */
static CUresult ask(struct worker *w, const struct args_graph_list *a, CUgraph graph,
                    CUgraphNode node, CUgraphNode *nodes, CUgraphNode *others,
                    CUgraphEdgeData *edges, size_t *count) {
    switch (a->what) {
    case VCUDA_GRAPH_NODES:
        return w->driver.cuGraphGetNodes(graph, nodes, count);
    case VCUDA_GRAPH_ROOTS:
        return w->driver.cuGraphGetRootNodes(graph, nodes, count);
    case VCUDA_GRAPH_EDGES:
        return w->driver.cuGraphGetEdges_v2(graph, nodes, others, edges, count);
    case VCUDA_GRAPH_DEPENDENCIES:
        return w->driver.cuGraphNodeGetDependencies_v2(node, nodes, edges, count);
    case VCUDA_GRAPH_DEPENDENTS:
        return w->driver.cuGraphNodeGetDependentNodes_v2(node, nodes, edges, count);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult list_of(struct worker *w, struct args_graph_list *a, CUgraph graph,
                        CUgraphNode node, uint64_t owner) {
    bool has_edges = a->what >= VCUDA_GRAPH_EDGES, has_others = a->what == VCUDA_GRAPH_EDGES;
    struct graph_list list;
    CUgraphEdgeData *edges;
    CUgraphNode *nodes;
    size_t count = 0;
    CUresult r = ask(w, a, graph, node, NULL, NULL, NULL, &count);

    a->count = count;
    if (r != CUDA_SUCCESS || !count || !a->entries_cap)
        return r;
    nodes = calloc(2 * count, sizeof(*nodes));
    edges = calloc(count, sizeof(*edges));
    r = CUDA_ERROR_OUT_OF_MEMORY;
    if (nodes && edges)
        r = ask(w, a, graph, node, nodes, has_others ? nodes + count : NULL,
                has_edges ? edges : NULL, &count);
    list = (struct graph_list){nodes, has_others ? nodes + count : NULL, has_edges ? edges : NULL,
                               count};
    if (r == CUDA_SUCCESS)
        r = graph_list_put(w, owner, &list, a->first, a->entries, a->entries_cap, &a->entries_len);
    free(nodes);
    free(edges);
    return r;
}

CUresult own_graph_list(struct worker *w, struct frame *f, struct args_graph_list *a) {
    void *object;
    CUresult r;

    (void)f;
    if (a->what <= VCUDA_GRAPH_EDGES) {
        r = frame_object(w, VCUDA_KIND_GRAPH, a->object, &object);
        return r == CUDA_SUCCESS ? list_of(w, a, object, NULL, a->object) : r;
    }
    r = frame_object(w, VCUDA_KIND_NODE, a->object, &object);
    return r == CUDA_SUCCESS ? list_of(w, a, NULL, object, graph_owner_of(w, a->object)) : r;
}

CUresult own_cuGraphNodeFindInClone(struct worker *w, struct frame *f,
                                    struct args_cuGraphNodeFindInClone *a) {
    f->owner = a->hClonedGraph_name;
    return w->driver.cuGraphNodeFindInClone(&a->phNode, a->hOriginalNode, a->hClonedGraph);
}

/* The graph is the node's own, and ends with it. */
CUresult own_cuGraphChildGraphNodeGetGraph(struct worker *w, struct frame *f,
                                           struct args_cuGraphChildGraphNodeGetGraph *a) {
    f->owner = a->hNode_name;
    return w->driver.cuGraphChildGraphNodeGetGraph(a->hNode, &a->phGraph);
}

/* Both nodes of each edge, one list: first where they come from, then where they lead to. */
CUresult own_graph_dependencies(struct worker *w, struct frame *f,
                                struct args_graph_dependencies *a) {
    size_t count = a->nodes_count / 2;
    const CUgraphEdgeData *edges;
    CUresult r = graph_edges(a->edges, a->edges_len, count, &edges);

    (void)f;
    if (r == CUDA_SUCCESS && a->nodes_count % 2)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    return a->remove ? w->driver.cuGraphRemoveDependencies_v2(a->graph, a->nodes, a->nodes + count,
                                                              edges, count)
                     : w->driver.cuGraphAddDependencies_v2(a->graph, a->nodes, a->nodes + count,
                                                           edges, count);
}

/* What the driver says of a failure comes back too: the result is an out. */
CUresult own_graph_instantiate(struct worker *w, struct frame *f,
                               struct args_graph_instantiate *a) {
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = a->flags, .hUploadStream = a->stream};

    a->status = w->driver.cuGraphInstantiateWithParams(&a->exec, a->graph, &p);
    a->result = p.result_out;
    if (a->status != CUDA_SUCCESS)
        a->exec = NULL;
    else
        p.hErrNode_out = NULL;
    f->owner = 0;
    a->node = graph_node_name(w, p.hErrNode_out, a->graph_name);
    return CUDA_SUCCESS;
}

CUresult own_graph_update(struct worker *w, struct frame *f, struct args_graph_update *a) {
    CUgraphExecUpdateResultInfo info = {0};

    (void)f;
    a->status = w->driver.cuGraphExecUpdate_v2(a->exec, a->graph, &info);
    a->result = info.result;
    if (a->status == CUDA_SUCCESS)
        return CUDA_SUCCESS;
    a->node = graph_node_name(w, info.errorNode, a->graph_name);
    a->from = graph_node_name(w, info.errorFromNode, a->graph_name);
    return CUDA_SUCCESS;
}

CUresult own_cuGraphLaunch(struct worker *w, struct frame *f, struct args_cuGraphLaunch *a) {
    CUresult r = w->driver.cuGraphLaunch(a->hGraph, a->hStream);

    (void)f;
    pools_graph_launched(w);
    return r;
}
