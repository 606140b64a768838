/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: nodes with what they do, in the order in which they were added, and what each comes
 * after. One lock (sim_graph_lock) guards all graphs and captures; it is taken before the queues'.
 */
#ifndef SIMGPU_GRAPH_H
#define SIMGPU_GRAPH_H

#include "sim.h"
#include "user_object.h"

/* An operation that no queue holds: it may run any number of times. Counted references. */
struct sim_work {
    atomic_uint refs;
    struct sim_op *op;
};

/* What a node comes after. What the data permits, to begin before that has ended, nobody does. */
struct sim_edge {
    struct sim_node *on;
    CUgraphEdgeData data;
};

struct sim_node {
    struct sim_object object;
    struct sim_graph *graph; /* which has it; NULL: destroyed */
    struct sim_node *next;
    CUgraphNodeType type;
    struct sim_work *work;   /* kernels, copies, fills, host functions */
    struct sim_graph *child; /* its own */
    struct sim_branches *branches;
    struct sim_event *event; /* a reference */
    uint64_t origin;         /* handle of the node that it is a copy of */
    struct sim_edge *deps;
    size_t dep_count;
    unsigned mark; /* of a walk over the graph */
};

struct sim_graph {
    struct sim_object object;
    struct sim_node *first, **end;
    size_t count;
    bool closed;
    bool owned;   /* by a node: it ends with that */
    bool circles; /* an edge was added that closes one */
    struct sim_holding *holdings;
};

/* What is made of a node, in the order in which they run. */
struct sim_step {
    CUgraphNodeType type;
    struct sim_work *work;
    struct sim_event *event;
    uint64_t node; /* handle */
    size_t within; /* of a child's node: so many steps before it are the child's */
    bool off;
};

struct sim_exec {
    struct sim_object object;
    struct sim_step *steps;
    size_t count;
    struct sim_holding *holdings; /* what the graph and those within it held */
    uint64_t flags;
};

/* The step of a node; NULL: there is none. Under the lock. */
struct sim_step *sim_exec_step(struct sim_exec *exec, CUgraphNode node);
/* The steps that were made of a child's node become those of this graph, which has the same. */
CUresult sim_exec_set_child(struct sim_exec *exec, CUgraphNode node, CUgraph graph);

void sim_graph_lock(void);
void sim_graph_unlock(void);

struct sim_graph *sim_graph_new(void);
/* Ends the handles of all nodes, and the graph's. */
void sim_graph_close(struct sim_graph *graph);

/* Takes over `op` (NULL: none). NULL: out of memory, and the op is discarded. Under the lock. */
struct sim_node *sim_node_add(struct sim_graph *graph, CUgraphNodeType type, struct sim_op *op,
                              struct sim_node *const *deps, size_t dep_count);
/*
 * CUDA_ERROR_INVALID_VALUE: not both of the graph, there already, the same node, or data that these
 * nodes do not have between them; NULL: none. That there is a circle is found when something is
 * made of the graph. Under the lock.
 */
CUresult sim_node_depend(struct sim_node *node, struct sim_node *on, const CUgraphEdgeData *data);

/* Whether there is a way around from a node to itself. Under the lock. */
bool sim_graph_circles(const struct sim_graph *graph);

/* Why the node comes after that one directly; NULL: it does not. Under the lock. */
const struct sim_edge *sim_node_edge(const struct sim_node *node, const struct sim_node *on);
void sim_node_independ(struct sim_node *node, const struct sim_node *on);

/* What is behind a handle, a reference, or the error to return. */
CUresult sim_graph_get(CUgraph handle, struct sim_graph **graph);
CUresult sim_node_get(CUgraphNode handle, struct sim_node **node);

/* The opening lines of calls about one. */
#define SIM_GRAPH_ARG(name, handle)                                                                \
    SIM_AUTO struct sim_graph *name = NULL;                                                        \
    CUresult name##_error = sim_graph_get(handle, &name);                                          \
    if (name##_error != CUDA_SUCCESS)                                                              \
    return name##_error

#define SIM_NODE_ARG(name, handle)                                                                 \
    SIM_AUTO struct sim_node *name = NULL;                                                         \
    CUresult name##_error = sim_node_get(handle, &name);                                           \
    if (name##_error != CUDA_SUCCESS)                                                              \
    return name##_error

struct sim_work *sim_work_new(struct sim_op *op);
struct sim_work *sim_work_ref(struct sim_work *work);
void sim_work_put(struct sim_work *work);

/* capture.c */

/*
 * Whether the stream is captured, so that an operation became a node, or an error: in *result. The
 * op is then taken. Also the default stream's rule.
 */
bool sim_capture_takes(struct sim_stream *stream, struct sim_op *op, CUresult *result);
/* Whether its operations become nodes now. */
bool sim_capture_captures(struct sim_stream *stream);
/* The error of whoever waits for the stream, which ends the capture; else CUDA_SUCCESS. */
CUresult sim_capture_refuses_wait(struct sim_stream *stream);
/* The same for whoever waits for all of a context. */
CUresult sim_capture_refuses_context(struct sim_context *context);
/* An event recorded in a captured stream: true, nothing else is to be done. */
bool sim_capture_record(struct sim_stream *stream, struct sim_event *event);
/* The same for a stream that waits for an event. */
bool sim_capture_wait(struct sim_stream *stream, struct sim_event *event, CUresult *result);
/* Of an event that was last recorded in a capture: CUDA_ERROR_CAPTURED_EVENT, or, when the capture
 * is invalid or over, CUDA_ERROR_INVALID_VALUE. */
CUresult sim_capture_refuses_event(struct sim_event *event);
void sim_capture_forget_event(struct sim_event *event);
void sim_capture_forget_stream(struct sim_stream *stream);

/* What nodes do, from what programs say. Checked. */
CUresult sim_launch_op(struct sim_context *context, const CUDA_KERNEL_NODE_PARAMS_v3 *p,
                       struct sim_op **op);
CUresult sim_copy3d_op(const CUDA_MEMCPY3D *c, struct sim_op **op);
CUresult sim_fill2d_op(const CUDA_MEMSET_NODE_PARAMS_v2 *p, struct sim_op **op);
CUresult sim_memop_op(struct sim_context *context, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *p,
                      struct sim_op **op);
CUresult sim_host_op(const CUDA_HOST_NODE_PARAMS_v2 *p, struct sim_op **op);

#endif
