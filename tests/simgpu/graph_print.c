// SPDX-License-Identifier: Apache-2.0
/* A graph as text, in the language of Graphviz. */
#include <stdio.h>

#include "graph.h"

static const char *kind(CUgraphNodeType type) {
    static const char *const names[] = {
        [CU_GRAPH_NODE_TYPE_KERNEL] = "KERNEL",
        [CU_GRAPH_NODE_TYPE_MEMCPY] = "MEMCPY",
        [CU_GRAPH_NODE_TYPE_MEMSET] = "MEMSET",
        [CU_GRAPH_NODE_TYPE_HOST] = "HOST",
        [CU_GRAPH_NODE_TYPE_GRAPH] = "CHILD_GRAPH",
        [CU_GRAPH_NODE_TYPE_EMPTY] = "EMPTY",
        [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = "EVENT_WAIT",
        [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = "EVENT_RECORD",
    };

    return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "NODE";
}

/* Under the lock. Nodes are numbered in the order in which they were added. */
static void print(const struct sim_graph *graph, FILE *to) {
    unsigned number = 0;

    for (struct sim_node *n = graph->first; n; n = n->next)
        n->mark = number++;
    fprintf(to, "digraph dot {\n");
    for (struct sim_node *n = graph->first; n; n = n->next)
        fprintf(to, "\"node_%u\" [label=\"%u\\n%s\"];\n", n->mark, n->mark, kind(n->type));
    for (struct sim_node *n = graph->first; n; n = n->next)
        for (size_t i = 0; i < n->dep_count; i++)
            fprintf(to, "\"node_%u\" -> \"node_%u\";\n", n->deps[i].on->mark, n->mark);
    fprintf(to, "}\n");
    /* A walk must not take these numbers for its own. */
    for (struct sim_node *n = graph->first; n; n = n->next)
        n->mark = 0;
}

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags) {
    FILE *to;
    SIM_GRAPH_ARG(graph, hGraph);

    (void)flags; /* how much is said of each node: never more than this */
    if (!path)
        return CUDA_ERROR_INVALID_VALUE;
    to = fopen(path, "w");
    if (!to)
        return CUDA_ERROR_OPERATING_SYSTEM;
    sim_graph_lock();
    print(graph, to);
    sim_graph_unlock();
    return fclose(to) ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}
