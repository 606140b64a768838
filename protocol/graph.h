/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Graphs as they travel: lists of nodes, and the parameters of one. */
#ifndef VCUDA_PROTOCOL_GRAPH_H
#define VCUDA_PROTOCOL_GRAPH_H

#include <linux/types.h>

/* An element of a list: a node, or an edge, which has another node at its end. */
struct vcuda_graph_entry {
	__u64 node;
	__u64 other; /* edges: where it leads to; else 0 */
	__u8 edge[8]; /* CUgraphEdgeData of the edge, or of the dependency */
};

/*
 * Elements that one answer holds at most. A longer list is asked for in pieces,
 * by the number of the first element wanted.
 */
#define VCUDA_GRAPH_ENTRIES_MAX 1536u

/* Which list. Those up to the edges are a graph's, the others a node's. */
enum vcuda_graph_what {
	VCUDA_GRAPH_NODES = 1,
	VCUDA_GRAPH_ROOTS = 2,
	VCUDA_GRAPH_EDGES = 3,
	VCUDA_GRAPH_DEPENDENCIES = 4,
	VCUDA_GRAPH_DEPENDENTS = 5,
};

/* Bytes of an edge's data, as CUgraphEdgeData has them. */
#define VCUDA_GRAPH_EDGE_BYTES 8u

#endif
