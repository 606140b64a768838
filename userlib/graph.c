// SPDX-License-Identifier: Apache-2.0
/* Graphs as wholes: made, copied, ended; their lists of nodes and edges. */
#include <string.h>

#include "cuda_calls.h"
#include "graph.h"
#include "graph_buffer.h"
#include "graph_host.h"
#include "graph_node.h"
#include "guest.h"
#include "notes.h"
#include "wire.h"

VCUDA_EXPORT CUresult cuGraphDestroy(CUgraph hGraph) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_GRAPH, hGraph);
    if (r == CUDA_SUCCESS)
        r = wire_cuGraphDestroy(t, (uint64_t)hGraph);
    if (r == CUDA_SUCCESS)
        notes_end((uint64_t)hGraph);
    return r;
}

VCUDA_EXPORT CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS)
        r = phGraphClone ? guest_check(VCUDA_KIND_GRAPH, originalGraph) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = wire_cuGraphClone(t, (uint64_t *)phGraphClone, (uint64_t)originalGraph);
    if (r == CUDA_SUCCESS)
        r = graph_host_inherit((uint64_t)*phGraphClone, (uint64_t)originalGraph, 0);
    if (r == CUDA_SUCCESS)
        graph_host_renumber(t, (uint64_t)*phGraphClone);
    return r;
}

/* What a node had of the program's memory is no longer its graph's. */
VCUDA_EXPORT CUresult cuGraphDestroyNode(CUgraphNode hNode) {
    struct node_record copy, child;
    bool any = graph_buffer_any();
    bool copies = any && node_ask(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, hNode, &copy) == CUDA_SUCCESS;
    bool has_child =
        any && !copies && node_ask(hNode, CU_GRAPH_NODE_TYPE_GRAPH, hNode, &child) == CUDA_SUCCESS;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_NODE, hNode);
    if (r == CUDA_SUCCESS)
        r = wire_cuGraphDestroyNode(t, (uint64_t)hNode);
    if (r != CUDA_SUCCESS)
        return r;
    if (copies)
        graph_host_drop(copy.node.graph, (uint64_t)hNode, &copy.node.copy, NULL);
    if (has_child)
        graph_host_child(child.node.graph, (uint64_t)hNode, 0);
    notes_end((uint64_t)hNode);
    return CUDA_SUCCESS;
}

/* The graph is the node's, and so is what becomes known of it. */
VCUDA_EXPORT CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph) {
    struct node_record r;
    struct thread *t;
    CUresult result = guest_enter_any(&t);

    if (result == CUDA_SUCCESS)
        result = node_ask(hNode, CU_GRAPH_NODE_TYPE_GRAPH, phGraph, &r);
    if (result != CUDA_SUCCESS)
        return result;
    result = wire_cuGraphChildGraphNodeGetGraph(t, (uint64_t)hNode, (uint64_t *)phGraph);
    if (result == CUDA_SUCCESS && !node_owns((uint64_t)hNode, r.node.graph, *phGraph))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    return result;
}

/* Where a list goes. */
struct list {
    uint32_t what;
    CUgraphNode *nodes, *others; /* NULL: how many there are is all that is asked */
    CUgraphEdgeData *edges;
    size_t *count;
    bool plain; /* the caller has no room for the data of edges */
};

static bool is_default(const struct vcuda_graph_entry *e) {
    static const uint8_t zeroes[VCUDA_GRAPH_EDGE_BYTES];

    return !memcmp(e->edge, zeroes, sizeof(zeroes));
}

static CUresult take_entries(const struct list *l, const struct vcuda_graph_entry *e, uint32_t n,
                             size_t at) {
    for (uint32_t i = 0; i < n && at < *l->count; i++, at++) {
        if (l->plain && !is_default(&e[i]))
            return CUDA_ERROR_LOSSY_QUERY;
        l->nodes[at] = (CUgraphNode)e[i].node;
        if (l->others)
            l->others[at] = (CUgraphNode)e[i].other;
        if (l->edges)
            memcpy(&l->edges[at], e[i].edge, sizeof(e[i].edge));
    }
    return CUDA_SUCCESS;
}

/* The rest of a list that is shorter than the caller's room. */
static void clear_rest(const struct list *l, size_t from) {
    for (size_t i = from; i < *l->count; i++) {
        l->nodes[i] = NULL;
        if (l->others)
            l->others[i] = NULL;
    }
}

static CUresult fetch(struct thread *t, const struct list *l, uint64_t object) {
    struct vcuda_graph_entry entries[VCUDA_GRAPH_ENTRIES_MAX];
    size_t at = 0;
    uint64_t all;
    uint32_t len;
    CUresult r;

    do {
        r = wire_graph_list(t, l->what, object, at, &all, entries, sizeof(entries), &len);
        len /= sizeof(entries[0]);
        if (r == CUDA_SUCCESS)
            r = take_entries(l, entries, len, at);
        at += len;
    } while (r == CUDA_SUCCESS && len && at < all && at < *l->count);
    if (r != CUDA_SUCCESS)
        return r;
    if (at < *l->count) {
        clear_rest(l, at);
        *l->count = at;
    }
    return CUDA_SUCCESS;
}

static CUresult list(const struct list *l, enum vcuda_kind kind, const void *object) {
    struct thread *t;
    uint64_t all;
    uint32_t len;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS)
        r = guest_check(kind, object);
    if (r != CUDA_SUCCESS)
        return r;
    if (!l->count)
        return CUDA_ERROR_INVALID_VALUE;
    if (l->nodes)
        return fetch(t, l, (uint64_t)object);
    r = wire_graph_list(t, l->what, (uint64_t)object, 0, &all, NULL, 0, &len);
    if (r == CUDA_SUCCESS)
        *l->count = all;
    return r;
}

VCUDA_EXPORT CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes) {
    struct list l = {.what = VCUDA_GRAPH_NODES, .nodes = nodes, .count = numNodes};

    return list(&l, VCUDA_KIND_GRAPH, hGraph);
}

VCUDA_EXPORT CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes,
                                          size_t *numRootNodes) {
    struct list l = {.what = VCUDA_GRAPH_ROOTS, .nodes = rootNodes, .count = numRootNodes};

    return list(&l, VCUDA_KIND_GRAPH, hGraph);
}

VCUDA_EXPORT CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                                         CUgraphEdgeData *edgeData, size_t *numEdges) {
    struct list l = {VCUDA_GRAPH_EDGES, from, to, edgeData, numEdges, from && !edgeData};

    if (!from != !to)
        return CUDA_ERROR_INVALID_VALUE;
    return list(&l, VCUDA_KIND_GRAPH, hGraph);
}

VCUDA_EXPORT CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                                      size_t *numEdges) {
    return cuGraphGetEdges_v2(hGraph, from, to, NULL, numEdges);
}

VCUDA_EXPORT CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies,
                                                    CUgraphEdgeData *edgeData,
                                                    size_t *numDependencies) {
    struct list l = {VCUDA_GRAPH_DEPENDENCIES, dependencies, NULL, edgeData,
                     numDependencies,          !edgeData};

    return list(&l, VCUDA_KIND_NODE, hNode);
}

VCUDA_EXPORT CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies,
                                                 size_t *numDependencies) {
    return cuGraphNodeGetDependencies_v2(hNode, dependencies, NULL, numDependencies);
}

VCUDA_EXPORT CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode,
                                                      CUgraphNode *dependentNodes,
                                                      CUgraphEdgeData *edgeData,
                                                      size_t *numDependentNodes) {
    struct list l = {VCUDA_GRAPH_DEPENDENTS, dependentNodes, NULL, edgeData,
                     numDependentNodes,      !edgeData};

    return list(&l, VCUDA_KIND_NODE, hNode);
}

VCUDA_EXPORT CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                                   size_t *numDependentNodes) {
    return cuGraphNodeGetDependentNodes_v2(hNode, dependentNodes, NULL, numDependentNodes);
}
