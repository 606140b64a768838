/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMGPU_GRAPH_CONDITION_H
#define SIMGPU_GRAPH_CONDITION_H

#include "graph.h"

/* The graphs of a conditional node, of which one runs, or none. */
struct sim_branches {
    CUgraphConditionalNodeType type;
    unsigned int value;
    unsigned int count;
    CUgraph handles[64];
    struct sim_graph *bodies[];
};

/* The node's graphs, new ones; p->phGraph_out is told of them. */
CUresult sim_branches_make(CUDA_CONDITIONAL_NODE_PARAMS *p, struct sim_branches **out);
/* Under the graphs' lock. NULL is fine. */
void sim_branches_end(struct sim_branches *b);
/* The one that runs, or NULL. CUDA_ERROR_NOT_SUPPORTED: without end. */
CUresult sim_branches_choose(const struct sim_branches *b, const struct sim_graph **body);

#endif
