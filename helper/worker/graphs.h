/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that serve graphs share. */
#ifndef VCUDA_WORKER_GRAPHS_H
#define VCUDA_WORKER_GRAPHS_H

#include "graph.h"
#include "worker.h"

/* A list of the driver's nodes; others and edges may be NULL. */
struct graph_list {
    const CUgraphNode *nodes;
    const CUgraphNode *others; /* edges: where they lead to */
    const CUgraphEdgeData *edges;
    size_t count;
};

/* The names of driver's objects, made if they have none yet; 0 for NULL, or out of memory. */
uint64_t graph_name_of(struct worker *w, CUgraph graph, uint64_t owner);
uint64_t graph_node_name(struct worker *w, CUgraphNode node, uint64_t owner);
/* The name of the graph that a node is of, or 0. */
uint64_t graph_owner_of(struct worker *w, uint64_t node);

/*
 * Puts the part of a list that begins with element `first` into an answer's blob; the nodes are of
 * the graph `owner`.
 */
CUresult graph_list_put(struct worker *w, uint64_t owner, const struct graph_list *list,
                        uint64_t first, void *out, uint32_t cap, uint32_t *len);

/* The data of `count` edges out of a record, NULL if it was left out. */
CUresult graph_edges(const void *edges, uint32_t len, size_t count, const CUgraphEdgeData **out);

/*
 * A host function's number must live as long as any graph, copy or executable has the node: only
 * the driver knows. It tells the guest, by the number `end`, when it lets go of the last of them.
 * Returns what the graph holds for that; NULL: it does not.
 */
CUuserObject graph_tie_end(struct worker *w, CUgraph graph, uint64_t end);

#endif
