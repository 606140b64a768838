// SPDX-License-Identifier: Apache-2.0
/* Graphs as data: nodes, edges, copies, lists. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned last_walk;

void sim_graph_lock(void) {
    pthread_mutex_lock(&lock);
}

void sim_graph_unlock(void) {
    pthread_mutex_unlock(&lock);
}

struct sim_work *sim_work_new(struct sim_op *op) {
    struct sim_work *work = calloc(1, sizeof(*work));

    if (!work)
        return NULL;
    atomic_init(&work->refs, 1);
    work->op = op;
    return work;
}

struct sim_work *sim_work_ref(struct sim_work *work) {
    if (work)
        atomic_fetch_add(&work->refs, 1);
    return work;
}

void sim_work_put(struct sim_work *work) {
    if (!work || atomic_fetch_sub(&work->refs, 1) != 1)
        return;
    sim_op_discard(work->op);
    free(work);
}

static void destroy_graph(struct sim_object *object) {
    free(object);
}

struct sim_graph *sim_graph_new(void) {
    struct sim_graph *graph = calloc(1, sizeof(*graph));

    if (!graph)
        return NULL;
    sim_object_init(&graph->object, SIM_GRAPH, destroy_graph);
    graph->end = &graph->first;
    if (sim_handle_open(&graph->object))
        return graph;
    free(graph);
    return NULL;
}

static void destroy_node(struct sim_object *object) {
    struct sim_node *node = (struct sim_node *)object;

    sim_work_put(node->work);
    sim_put(node->event);
    free(node->deps);
    free(node);
}

/* The node is of no graph any more; its handle ends. */
static void end_node(struct sim_node *node) {
    if (node->child)
        sim_graph_close(node->child);
    node->child = NULL;
    node->graph = NULL;
    sim_handle_close(&node->object);
    sim_put(node);
}

void sim_graph_close(struct sim_graph *graph) {
    graph->closed = true;
    while (graph->first) {
        struct sim_node *node = graph->first;

        graph->first = node->next;
        end_node(node);
    }
    graph->end = &graph->first;
    graph->count = 0;
    sim_handle_close(&graph->object);
    sim_put(graph);
}

struct sim_node *sim_node_add(struct sim_graph *graph, CUgraphNodeType type, struct sim_op *op,
                              struct sim_node *const *deps, size_t dep_count) {
    struct sim_node *node = calloc(1, sizeof(*node));
    struct sim_work *work = op ? sim_work_new(op) : NULL;

    if (node)
        node->deps = calloc(dep_count + 1, sizeof(*deps));
    if (!node || !node->deps || (op && !work))
        goto fail;
    sim_object_init(&node->object, SIM_NODE, destroy_node);
    if (!sim_handle_open(&node->object))
        goto fail;
    node->graph = graph;
    node->type = type;
    node->work = work;
    if (dep_count)
        memcpy(node->deps, deps, dep_count * sizeof(*deps));
    node->dep_count = dep_count;
    *graph->end = node;
    graph->end = &node->next;
    graph->count++;
    return node;
fail:
    if (node)
        free(node->deps);
    free(node);
    if (work)
        sim_work_put(work);
    else if (op)
        sim_op_discard(op);
    return NULL;
}

/* Whether `from` comes after `node`, by any way. */
static bool reaches(struct sim_node *from, const struct sim_node *node, unsigned walk) {
    if (from == node)
        return true;
    if (from->mark == walk)
        return false;
    from->mark = walk;
    for (size_t i = 0; i < from->dep_count; i++)
        if (reaches(from->deps[i], node, walk))
            return true;
    return false;
}

static bool depends(const struct sim_node *node, const struct sim_node *on) {
    for (size_t i = 0; i < node->dep_count; i++)
        if (node->deps[i] == on)
            return true;
    return false;
}

CUresult sim_node_depend(struct sim_node *node, struct sim_node *on) {
    struct sim_node **more;

    if (node->graph != on->graph || depends(node, on) || reaches(on, node, ++last_walk))
        return CUDA_ERROR_INVALID_VALUE;
    more = realloc(node->deps, (node->dep_count + 1) * sizeof(*more));
    if (!more)
        return CUDA_ERROR_OUT_OF_MEMORY;
    node->deps = more;
    node->deps[node->dep_count++] = on;
    return CUDA_SUCCESS;
}

static void independ(struct sim_node *node, const struct sim_node *on) {
    for (size_t i = 0; i < node->dep_count; i++) {
        if (node->deps[i] == on) {
            node->deps[i] = node->deps[--node->dep_count];
            return;
        }
    }
}

/* For the calls: the graph behind a handle, with a reference. */
static CUresult get_graph(CUgraph handle, struct sim_graph **graph) {
    CUresult result = sim_ready();

    *graph = result == CUDA_SUCCESS ? sim_handle_get(handle, SIM_GRAPH) : NULL;
    return result != CUDA_SUCCESS || *graph ? result : CUDA_ERROR_INVALID_VALUE;
}

static CUresult get_node(CUgraphNode handle, struct sim_node **node) {
    CUresult result = sim_ready();

    *node = result == CUDA_SUCCESS ? sim_handle_get(handle, SIM_NODE) : NULL;
    return result != CUDA_SUCCESS || *node ? result : CUDA_ERROR_INVALID_VALUE;
}

#define GRAPH(name, handle)                                                                        \
    SIM_AUTO struct sim_graph *name = NULL;                                                        \
    CUresult name##_error = get_graph(handle, &name);                                              \
    if (name##_error != CUDA_SUCCESS)                                                              \
    return name##_error

#define NODE(name, handle)                                                                         \
    SIM_AUTO struct sim_node *name = NULL;                                                         \
    CUresult name##_error = get_node(handle, &name);                                               \
    if (name##_error != CUDA_SUCCESS)                                                              \
    return name##_error

CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags) {
    struct sim_graph *graph;

    SIM_READY();
    if (!phGraph || flags)
        return CUDA_ERROR_INVALID_VALUE;
    graph = sim_graph_new();
    if (!graph)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *phGraph = SIM_HANDLE(graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph hGraph) {
    GRAPH(graph, hGraph);

    sim_graph_lock();
    if (!graph->closed)
        sim_graph_close(graph);
    sim_graph_unlock();
    return CUDA_SUCCESS;
}

/* Under the lock. The nodes' order is kept, so that dependencies are found by their place. */
static struct sim_graph *copy_graph(const struct sim_graph *from) {
    struct sim_graph *to = sim_graph_new();
    struct sim_node **copies = calloc(from->count + 1, sizeof(struct sim_node *));
    size_t i = 0;

    if (!to || !copies) {
        free(copies);
        if (to)
            sim_graph_close(to);
        return NULL;
    }
    for (struct sim_node *n = from->first; n; n = n->next, i++) {
        n->mark = (unsigned)i;
        copies[i] = sim_node_add(to, n->type, NULL, NULL, 0);
        if (!copies[i])
            break;
        copies[i]->work = sim_work_ref(n->work);
        copies[i]->event = n->event ? sim_ref(n->event) : NULL;
        copies[i]->child = n->child ? copy_graph(n->child) : NULL;
        copies[i]->origin = n->object.handle;
    }
    i = 0;
    for (struct sim_node *n = from->first; n && copies[i]; n = n->next, i++) {
        copies[i]->deps = realloc(copies[i]->deps, (n->dep_count + 1) * sizeof(struct sim_node *));
        for (size_t d = 0; d < n->dep_count; d++)
            copies[i]->deps[d] = copies[n->deps[d]->mark];
        copies[i]->dep_count = n->dep_count;
    }
    free(copies);
    /* A walk must not take these numbers for its own. */
    for (struct sim_node *n = from->first; n; n = n->next)
        n->mark = 0;
    return to;
}

CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph) {
    struct sim_graph *copy;
    GRAPH(graph, originalGraph);

    if (!phGraphClone)
        return CUDA_ERROR_INVALID_VALUE;
    sim_graph_lock();
    copy = copy_graph(graph);
    sim_graph_unlock();
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *phGraphClone = SIM_HANDLE(copy);
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode,
                                CUgraph hClonedGraph) {
    CUgraphNode found = NULL;
    NODE(node, hOriginalNode);
    GRAPH(clone, hClonedGraph);

    if (!phNode)
        return CUDA_ERROR_INVALID_VALUE;
    sim_graph_lock();
    for (struct sim_node *n = clone->first; n && !found; n = n->next)
        found = n->origin == node->object.handle ? SIM_HANDLE(n) : NULL;
    sim_graph_unlock();
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    *phNode = found;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type) {
    NODE(node, hNode);

    if (!type)
        return CUDA_ERROR_INVALID_VALUE;
    *type = node->type;
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroyNode(CUgraphNode hNode) {
    NODE(node, hNode);

    sim_graph_lock();
    if (node->graph) {
        struct sim_graph *graph = node->graph;
        struct sim_node **at = &graph->first;

        for (struct sim_node *n = graph->first; n; n = n->next)
            independ(n, node);
        while (*at != node)
            at = &(*at)->next;
        *at = node->next;
        if (graph->end == &node->next)
            graph->end = at;
        graph->count--;
        end_node(node);
    }
    sim_graph_unlock();
    return CUDA_SUCCESS;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph) {
    NODE(node, hNode);

    if (!phGraph || !node->child)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = SIM_HANDLE(node->child);
    return CUDA_SUCCESS;
}

/* A list for a caller: as much as fits, and how long it is. */
struct list {
    CUgraphNode *from, *to;
    CUgraphEdgeData *edges;
    size_t room, count;
};

static void list_add(struct list *l, const struct sim_node *from, const struct sim_node *to) {
    if (l->from && l->count < l->room) {
        l->from[l->count] = SIM_HANDLE(from);
        if (l->to)
            l->to[l->count] = SIM_HANDLE(to);
        if (l->edges)
            memset(&l->edges[l->count], 0, sizeof(*l->edges));
    }
    l->count++;
}

static CUresult list_end(struct list *l, size_t *count) {
    sim_graph_unlock();
    for (size_t i = l->count; l->from && i < l->room; i++) {
        l->from[i] = NULL;
        if (l->to)
            l->to[i] = NULL;
    }
    *count = l->from && l->room < l->count ? l->room : l->count;
    return CUDA_SUCCESS;
}

#define LIST(name, from, to, edges, count)                                                         \
    struct list name = {from, to, edges, count ? *count : 0, 0};                                   \
    if (!count)                                                                                    \
        return CUDA_ERROR_INVALID_VALUE;                                                           \
    sim_graph_lock()

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes) {
    GRAPH(graph, hGraph);
    LIST(l, nodes, NULL, NULL, numNodes);

    for (struct sim_node *n = graph->first; n; n = n->next)
        list_add(&l, n, NULL);
    return list_end(&l, numNodes);
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes) {
    GRAPH(graph, hGraph);
    LIST(l, rootNodes, NULL, NULL, numRootNodes);

    for (struct sim_node *n = graph->first; n; n = n->next)
        if (!n->dep_count)
            list_add(&l, n, NULL);
    return list_end(&l, numRootNodes);
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                            CUgraphEdgeData *edgeData, size_t *numEdges) {
    GRAPH(graph, hGraph);
    LIST(l, from, to, edgeData, numEdges);

    for (struct sim_node *n = graph->first; n; n = n->next)
        for (size_t i = 0; i < n->dep_count; i++)
            list_add(&l, n->deps[i], n);
    return list_end(&l, numEdges);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies,
                                       CUgraphEdgeData *edgeData, size_t *numDependencies) {
    NODE(node, hNode);
    LIST(l, dependencies, NULL, edgeData, numDependencies);

    for (size_t i = 0; i < node->dep_count; i++)
        list_add(&l, node->deps[i], NULL);
    return list_end(&l, numDependencies);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                         CUgraphEdgeData *edgeData, size_t *numDependentNodes) {
    NODE(node, hNode);
    LIST(l, dependentNodes, NULL, edgeData, numDependentNodes);

    for (struct sim_node *n = node->graph ? node->graph->first : NULL; n; n = n->next)
        if (depends(n, node))
            list_add(&l, n, NULL);
    return list_end(&l, numDependentNodes);
}

/* Edges with data are for hardware that this is not. */
static bool plain(const CUgraphEdgeData *edges, size_t count) {
    static const CUgraphEdgeData none;

    for (size_t i = 0; edges && i < count; i++)
        if (memcmp(&edges[i], &none, sizeof(none)) != 0)
            return false;
    return true;
}

static CUresult change(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                       const CUgraphEdgeData *edges, size_t count, bool add) {
    GRAPH(graph, hGraph);
    CUresult result = CUDA_SUCCESS;

    if (count && (!from || !to))
        return CUDA_ERROR_INVALID_VALUE;
    if (!plain(edges, count))
        return CUDA_ERROR_NOT_SUPPORTED;
    sim_graph_lock();
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        SIM_AUTO struct sim_node *a = sim_handle_get(from[i], SIM_NODE);
        SIM_AUTO struct sim_node *b = sim_handle_get(to[i], SIM_NODE);

        if (!a || !b || a->graph != graph || b->graph != graph)
            result = CUDA_ERROR_INVALID_VALUE;
        else if (add)
            result = sim_node_depend(b, a);
        else if (depends(b, a))
            independ(b, a);
        else
            result = CUDA_ERROR_INVALID_VALUE;
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
