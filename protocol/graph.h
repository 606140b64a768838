/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Graphs as they travel: lists of nodes, and the parameters of one. */
#ifndef VCUDA_PROTOCOL_GRAPH_H
#define VCUDA_PROTOCOL_GRAPH_H

#include <linux/types.h>

#include "copy3d.h"

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

/*
 * The parameters of a node, as graph_node_add and its like carry them: this,
 * then `bytes` bytes of what its kind has more. type is CUgraphNodeType.
 */
struct vcuda_node {
	__u32 type;
	__u32 bytes;
	__u64 context; /* name; 0: none was given */
	__u64 graph; /* name of the graph that the node is of; comes back */
	union {
		struct {
			__u64 function; /* name */
			__u32 grid[3];
			__u32 block[3];
			__u32 shared; /* bytes */
			__u32 pad;
		} kernel; /* its parameters follow, laid out as it wants them */
		struct vcuda_copy3d copy;
		struct {
			__u64 dst;
			__u64 pitch;
			__u64 width; /* elements of a row */
			__u64 rows;
			__u32 value;
			__u32 element; /* bytes */
		} fill;
		struct {
			__u64 function; /* the guest's number, see record.h: VCUDA_MESSAGE_HOST */
			__u64 end; /* the number to tell when no graph has the node any more */
		} host;
		struct {
			__u64 graph; /* name */
			__u32 ownership;
			__u32 pad;
		} child;
		struct {
			__u64 event; /* name */
		} event;
		struct {
			__u64 bytes;
			__u64 address; /* comes back */
			__u64 max_size;
			__u32 type; /* CUmemAllocationType */
			__u32 handles;
			__u32 location; /* CUmemLocationType */
			__s32 id; /* of the device, the guest's number */
			__u32 usage;
			__u32 pad;
		} alloc; /* who may access it follows: struct vcuda_node_access */
		struct {
			__u64 address;
		} release;
		struct {
			__u32 flags;
			__u32 count;
		} operations; /* follow: struct vcuda_node_operation */
		struct {
			__u64 handle;
			__u32 type;
			__u32 size; /* of its graphs, whose names come back */
		} conditional;
	};
};

struct vcuda_node_access {
	__u32 location;
	__s32 id;
	__u32 flags;
	__u32 pad;
};

/* An operation on memory, as CUstreamBatchMemOpParams has it. */
struct vcuda_node_operation {
	__u64 words[6];
};

/* Graphs of a conditional node, operations of a node, at most. */
#define VCUDA_NODE_BODIES_MAX 1024u
#define VCUDA_NODE_OPERATIONS_MAX 256u
#define VCUDA_NODE_ACCESS_MAX 64u

#endif
