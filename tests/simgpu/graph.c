// SPDX-License-Identifier: Apache-2.0
/* Graphs as data: nodes, edges, copies, lists. */
#include "graph_condition.h"
#include "graph_memory.h"
#include "lock.h"

#include <stdlib.h>
#include <string.h>

static struct vcuda_lock lock; /* cheap: nearly every call takes it */
static unsigned last_walk;

void sim_graph_lock(void) {
    vcuda_lock_take(&lock);
}

void sim_graph_unlock(void) {
    vcuda_lock_leave(&lock);
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
    sim_branches_end(node->branches);
    node->branches = NULL;
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
    sim_holdings_drop(&graph->holdings);
    sim_handle_close(&graph->object);
    sim_put(graph);
}

struct sim_node *sim_node_add(struct sim_graph *graph, CUgraphNodeType type, struct sim_op *op,
                              struct sim_node *const *deps, size_t dep_count) {
    struct sim_node *node = calloc(1, sizeof(*node));
    struct sim_work *work = op ? sim_work_new(op) : NULL;

    if (node)
        node->deps = calloc(dep_count + 1, sizeof(*node->deps));
    if (!node || !node->deps || (op && !work))
        goto fail;
    sim_object_init(&node->object, SIM_NODE, destroy_node);
    if (!sim_handle_open(&node->object))
        goto fail;
    node->graph = graph;
    node->type = type;
    node->work = work;
    for (size_t i = 0; i < dep_count; i++)
        node->deps[i].on = deps[i];
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
        if (reaches(from->deps[i].on, node, walk))
            return true;
    return false;
}

const struct sim_edge *sim_node_edge(const struct sim_node *node, const struct sim_node *on) {
    for (size_t i = 0; i < node->dep_count; i++)
        if (node->deps[i].on == on)
            return &node->deps[i];
    return NULL;
}

/* All data that there is says that a kernel may begin before another has ended. */
static bool good_data(const struct sim_node *from, const struct sim_node *to,
                      const CUgraphEdgeData *data) {
    static const CUgraphEdgeData none;

    if (!data || memcmp(data, &none, sizeof(none)) == 0)
        return true;
    return data->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC &&
           (data->from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
            data->from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER) &&
           !data->to_port && memcmp(data->reserved, none.reserved, sizeof(none.reserved)) == 0 &&
           from->type == CU_GRAPH_NODE_TYPE_KERNEL && to->type == CU_GRAPH_NODE_TYPE_KERNEL;
}

CUresult sim_node_depend(struct sim_node *node, struct sim_node *on, const CUgraphEdgeData *data) {
    struct sim_edge *more;

    if (node->graph != on->graph || sim_node_edge(node, on) || node == on ||
        !good_data(on, node, data))
        return CUDA_ERROR_INVALID_VALUE;
    if (reaches(on, node, ++last_walk))
        node->graph->circles = true;
    more = realloc(node->deps, (node->dep_count + 1) * sizeof(*more));
    if (!more)
        return CUDA_ERROR_OUT_OF_MEMORY;
    node->deps = more;
    node->deps[node->dep_count].on = on;
    node->deps[node->dep_count++].data = data ? *data : (CUgraphEdgeData){0};
    return CUDA_SUCCESS;
}

bool sim_graph_circles(const struct sim_graph *graph) {
    if (!graph->circles)
        return false;
    for (struct sim_node *n = graph->first; n; n = n->next)
        for (size_t i = 0; i < n->dep_count; i++)
            if (reaches(n->deps[i].on, n, ++last_walk))
                return true;
    return false;
}

void sim_node_independ(struct sim_node *node, const struct sim_node *on) {
    for (size_t i = 0; i < node->dep_count; i++) {
        if (node->deps[i].on == on) {
            node->deps[i] = node->deps[--node->dep_count];
            return;
        }
    }
}

CUresult sim_graph_get(CUgraph handle, struct sim_graph **graph) {
    CUresult result = sim_ready();

    *graph = result == CUDA_SUCCESS ? sim_handle_get(handle, SIM_GRAPH) : NULL;
    return result != CUDA_SUCCESS || *graph ? result : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_node_get(CUgraphNode handle, struct sim_node **node) {
    CUresult result = sim_ready();

    *node = result == CUDA_SUCCESS ? sim_handle_get(handle, SIM_NODE) : NULL;
    return result != CUDA_SUCCESS || *node ? result : CUDA_ERROR_INVALID_VALUE;
}

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
    SIM_GRAPH_ARG(graph, hGraph);

    if (graph->owned)
        return CUDA_ERROR_INVALID_VALUE;
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
        copies[i]->deps = realloc(copies[i]->deps, (n->dep_count + 1) * sizeof(struct sim_edge));
        for (size_t d = 0; d < n->dep_count; d++)
            copies[i]->deps[d] = (struct sim_edge){copies[n->deps[d].on->mark], n->deps[d].data};
        copies[i]->dep_count = n->dep_count;
    }
    free(copies);
    to->circles = from->circles;
    sim_holdings_add(&to->holdings, from->holdings);
    /* A walk must not take these numbers for its own. */
    for (struct sim_node *n = from->first; n; n = n->next)
        n->mark = 0;
    return to;
}

/* Under the lock. Graphs with conditions are not copied here, those with memory nowhere. */
static bool has_what_is_not_copied(const struct sim_graph *graph) {
    for (const struct sim_node *n = graph->first; n; n = n->next)
        if (n->branches || sim_is_graph_memory(n->type) ||
            (n->child && has_what_is_not_copied(n->child)))
            return true;
    return false;
}

CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph) {
    struct sim_graph *copy;
    SIM_GRAPH_ARG(graph, originalGraph);

    if (!phGraphClone)
        return CUDA_ERROR_INVALID_VALUE;
    sim_graph_lock();
    if (has_what_is_not_copied(graph)) {
        sim_graph_unlock();
        return CUDA_ERROR_NOT_SUPPORTED;
    }
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
    SIM_NODE_ARG(node, hOriginalNode);
    SIM_GRAPH_ARG(clone, hClonedGraph);

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
    SIM_NODE_ARG(node, hNode);

    if (!type)
        return CUDA_ERROR_INVALID_VALUE;
    *type = node->type;
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroyNode(CUgraphNode hNode) {
    SIM_NODE_ARG(node, hNode);

    sim_graph_lock();
    if (node->graph) {
        struct sim_graph *graph = node->graph;
        struct sim_node **at = &graph->first;

        for (struct sim_node *n = graph->first; n; n = n->next)
            sim_node_independ(n, node);
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
    SIM_NODE_ARG(node, hNode);

    if (!phGraph || !node->child)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = SIM_HANDLE(node->child);
    return CUDA_SUCCESS;
}
