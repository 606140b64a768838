// SPDX-License-Identifier: Apache-2.0
/* What graphs tell of their nodes and edges; edges added and removed. */
#include "graph.h"

#include <string.h>

/* A list for a caller: as much as fits, and how long it is. */
struct list {
    CUgraphNode *from, *to;
    CUgraphEdgeData *edges;
    size_t room, count;
    bool lossy; /* edges have data for which there is no place */
};

static const CUgraphEdgeData no_data;

static void list_add(struct list *l, const struct sim_node *from, const struct sim_node *to,
                     const CUgraphEdgeData *data) {
    if (l->from && !l->edges && memcmp(data, &no_data, sizeof(no_data)) != 0)
        l->lossy = true;
    if (l->from && l->count < l->room) {
        l->from[l->count] = SIM_HANDLE(from);
        if (l->to)
            l->to[l->count] = SIM_HANDLE(to);
        if (l->edges)
            l->edges[l->count] = *data;
    }
    l->count++;
}

static CUresult list_end(struct list *l, size_t *count) {
    sim_graph_unlock();
    if (l->lossy)
        return CUDA_ERROR_LOSSY_QUERY;
    for (size_t i = l->count; l->from && i < l->room; i++) {
        l->from[i] = NULL;
        if (l->to)
            l->to[i] = NULL;
    }
    *count = l->from && l->room < l->count ? l->room : l->count;
    return CUDA_SUCCESS;
}

#define LIST(name, from, to, edges, count)                                                         \
    struct list name = {from, to, edges, count ? *count : 0, 0, false};                            \
    if (!count)                                                                                    \
        return CUDA_ERROR_INVALID_VALUE;                                                           \
    sim_graph_lock()

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes) {
    SIM_GRAPH_ARG(graph, hGraph);
    LIST(l, nodes, NULL, NULL, numNodes);

    for (struct sim_node *n = graph->first; n; n = n->next)
        list_add(&l, n, NULL, &no_data);
    return list_end(&l, numNodes);
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes) {
    SIM_GRAPH_ARG(graph, hGraph);
    LIST(l, rootNodes, NULL, NULL, numRootNodes);

    for (struct sim_node *n = graph->first; n; n = n->next)
        if (!n->dep_count)
            list_add(&l, n, NULL, &no_data);
    return list_end(&l, numRootNodes);
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                            CUgraphEdgeData *edgeData, size_t *numEdges) {
    SIM_GRAPH_ARG(graph, hGraph);
    LIST(l, from, to, edgeData, numEdges);

    for (struct sim_node *n = graph->first; n; n = n->next)
        for (size_t i = 0; i < n->dep_count; i++)
            list_add(&l, n->deps[i].on, n, &n->deps[i].data);
    return list_end(&l, numEdges);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies,
                                       CUgraphEdgeData *edgeData, size_t *numDependencies) {
    SIM_NODE_ARG(node, hNode);
    LIST(l, dependencies, NULL, edgeData, numDependencies);

    for (size_t i = 0; i < node->dep_count; i++)
        list_add(&l, node->deps[i].on, NULL, &node->deps[i].data);
    return list_end(&l, numDependencies);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                         CUgraphEdgeData *edgeData, size_t *numDependentNodes) {
    SIM_NODE_ARG(node, hNode);
    LIST(l, dependentNodes, NULL, edgeData, numDependentNodes);

    for (struct sim_node *n = node->graph ? node->graph->first : NULL; n; n = n->next) {
        const struct sim_edge *edge = sim_node_edge(n, node);

        if (edge)
            list_add(&l, n, NULL, &edge->data);
    }
    return list_end(&l, numDependentNodes);
}

/* An edge goes only by its own data. */
static CUresult remove_edge(struct sim_node *node, const struct sim_node *on,
                            const CUgraphEdgeData *data) {
    const struct sim_edge *edge = sim_node_edge(node, on);

    if (!edge || memcmp(&edge->data, data, sizeof(*data)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    sim_node_independ(node, on);
    return CUDA_SUCCESS;
}

static CUresult change(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                       const CUgraphEdgeData *edges, size_t count, bool add) {
    SIM_GRAPH_ARG(graph, hGraph);
    CUresult result = CUDA_SUCCESS;

    if (count && (!from || !to))
        return CUDA_ERROR_INVALID_VALUE;
    sim_graph_lock();
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        SIM_AUTO struct sim_node *a = sim_handle_get(from[i], SIM_NODE);
        SIM_AUTO struct sim_node *b = sim_handle_get(to[i], SIM_NODE);

        if (!a || !b || a->graph != graph || b->graph != graph)
            result = CUDA_ERROR_INVALID_VALUE;
        else if (add)
            result = sim_node_depend(b, a, edges ? &edges[i] : NULL);
        else
            result = remove_edge(b, a, edges ? &edges[i] : &no_data);
    }
    sim_graph_unlock();
    return result;
}

CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *edgeData, size_t numDependencies) {
    return change(hGraph, from, to, edgeData, numDependencies, true);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from,
                                      const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                      size_t numDependencies) {
    return change(hGraph, from, to, edgeData, numDependencies, false);
}
