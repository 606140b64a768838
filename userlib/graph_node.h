/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of graphs: what the files share that add, change and ask about them. */
#ifndef VCUDA_USERLIB_GRAPH_NODE_H
#define VCUDA_USERLIB_GRAPH_NODE_H

#include "graph.h"
#include "graph_host.h"
#include "guest.h"
#include "info.h"

/* A node's parameters as a record carries them. */
struct node_record {
    struct vcuda_node node;
    uint8_t more[VCUDA_PARAM_BYTES_MAX];
    struct graph_held held; /* does not travel: a copy's buffers */
};

/* Bytes of it that travel. */
static inline uint32_t node_bytes(const struct node_record *r) {
    return (uint32_t)sizeof(r->node) + r->node.bytes;
}

/*
 * Writes what the program gave. The numbers of a host function are new, and so are a copy's
 * buffers: node_drop() ends them if the record comes to nothing. owner: the graph or executable
 * that it is for; node: 0 if new.
 */
CUresult node_write(struct thread *t, const CUgraphNodeParams *p, uint64_t owner, uint64_t node,
                    struct node_record *out);
void node_drop(uint64_t owner, const struct node_record *r);

/*
 * A copy's parameters, and back. Memory that is not pinned is replaced by a buffer for `owner`, a
 * graph or an executable, and its node (0: new).
 */
CUresult node_write_copy(struct thread *t, const CUDA_MEMCPY3D *c, uint64_t owner, uint64_t node,
                         struct node_record *out);
/* What its memory is, by the addresses; and what was left out. */
CUresult node_settle_copy(struct vcuda_copy3d *c);
void node_read_copy(const struct vcuda_copy3d *c, CUDA_MEMCPY3D *out);

/* Asks the worker for a node's parameters; the node must be of that type. */
CUresult node_ask(CUgraphNode node, CUgraphNodeType type, const void *out, struct node_record *r);

/*
 * How the program gave a node's parameters, where native gives them back so: kept with the node of
 * `graph` (0: not known).
 */
enum node_form {
    NODE_BY_EXTRA = 1,
    NODE_SRC_NO_PITCH = 2,
    NODE_SRC_NO_HEIGHT = 4,
    NODE_DST_NO_PITCH = 8,
    NODE_DST_NO_HEIGHT = 16,
    NODE_AS_KERNEL = 32, /* by a CUkernel's handle, in the place of a function's */
    NODE_IN_KERN = 64,   /* by one in its own place */
    NODE_NO_FUNC = 128,  /* and by no function's */
};
unsigned int node_form_of(const CUgraphNodeParams *p);
void node_keep_form(CUgraphNode node, uint64_t graph, const CUgraphNodeParams *p);

/* Edges that a record holds, beside a node's parameters. */
#define GRAPH_EDGES_MAX 768u

struct graph_edges {
    const CUgraphNode *from, *to; /* to: NULL: all lead to this one: */
    CUgraphNode into;
    const CUgraphEdgeData *data; /* or NULL */
    size_t count;
};

/* Adds or removes them, in as many records as it takes: all of them, or none. */
CUresult graph_edges_change(struct thread *t, CUgraph graph, bool remove,
                            const struct graph_edges *e);

/* A graph that is a node's own: what is remembered of it ends with the node. False: no memory. */
bool node_owns(uint64_t node, uint64_t graph, CUgraph inner);

/*
 * Memory of `bytes` bytes that lives as long as the node, which it is kept with: what it held
 * before is valid until then, if it was of the same size. NULL: out of memory.
 */
void *node_memory(uint64_t node, uint64_t graph, size_t bytes);

#endif
