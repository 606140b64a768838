/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of graphs. Its address is known, and its memory taken, when the node is made; it is in use
 * from where the allocating node runs to where something frees it.
 */
#ifndef SIMGPU_GRAPH_MEMORY_H
#define SIMGPU_GRAPH_MEMORY_H

#include "graph.h"

static inline bool sim_is_graph_memory(CUgraphNodeType type) {
    return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

/* What nodes of the two kinds do. p->dptr receives the address. */
CUresult sim_graph_alloc_op(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p, struct sim_op **op);
CUresult sim_graph_free_op(const CUDA_MEM_FREE_NODE_PARAMS *p, struct sim_op **op);

/* Whether a node of the graph frees this memory. Under the graphs' lock. */
bool sim_graph_frees(const struct sim_graph *graph, CUdeviceptr dptr);

/*
 * A launch is under way, in the host's order. CUDA_ERROR_INVALID_VALUE: memory that it allocates
 * was not given back after the last one, or what it frees is not allocated; nothing is changed
 * then.
 */
CUresult sim_graph_memory_begin(const struct sim_exec *exec);

/* The program frees a graph's memory, in the host's order: whether it was allocated. */
bool sim_graph_memory_give_back(const struct sim_block *block);
/* The same when a stream, or the host that has waited, gets there. */
void sim_graph_memory_ends(const struct sim_block *block);

#endif
