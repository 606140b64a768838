/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pageable memory in graphs. A node reads and writes the program's memory each time it runs; the
 * GPU cannot reach it here. So the node is given a buffer in the arena, which is filled before each
 * launch of the graph and emptied when the launch is done and the program has waited for it, or a
 * host function runs. What nodes of a graph have of the same memory lies in one block: what one of
 * them writes the next one reads.
 *
 * A copy that a node of an executable is given lies apart, but where one block holds all of it.
 *
 * The list of such buffers belongs to a graph, or to what was made of one, by its name.
 */
#ifndef VCUDA_USERLIB_GRAPH_HOST_H
#define VCUDA_USERLIB_GRAPH_HOST_H

#include <stdbool.h>

#include "copy3d.h"
#include "guest.h"

struct graph_buffer;

/* What a copy has got, on one side, or on both: until it is a node's, or comes to nothing. */
struct graph_held {
    struct graph_buffer *buffer[2];
};

/*
 * Replaces memory in a copy that the GPU does not reach by buffers, on behalf of `owner`, the name
 * of a graph or of an executable, and of its node (0: a new one). If the copy comes to nothing
 * graph_host_undo() takes them back.
 */
CUresult graph_host_buffer(struct thread *t, uint64_t owner, uint64_t node, struct vcuda_copy3d *c,
                           struct graph_held *held);
void graph_host_undo(uint64_t owner, const struct graph_held *held);
/* The name of the new node. */
void graph_host_settled(uint64_t owner, uint64_t node, const struct graph_held *held);
/*
 * The same of a copy that a stream's capture makes a node of: before, and after, with what came of
 * it, which is returned.
 */
CUresult graph_host_capture(struct thread *t, uint64_t graph, struct vcuda_copy3d *c,
                            struct graph_held *held);
CUresult graph_host_captured(struct thread *t, uint64_t graph, uint64_t stream,
                             const struct graph_held *held, CUresult r);
/* Whether there is any. */
bool graph_host_has(uint64_t owner);
/* Puts the program's memory back into a copy that the worker told of. */
void graph_host_original(struct vcuda_copy3d *c);

/* What `from` has, `to` has as well: by a copy, or as the graph of that node (0: not known). */
CUresult graph_host_inherit(uint64_t to, uint64_t from, uint64_t within);
/* The same, and nothing else any more. */
CUresult graph_host_become(uint64_t to, uint64_t from);
/* The same of a child's node only: the graph in it is another, or (0) none any more. */
CUresult graph_host_child(uint64_t to, uint64_t node, uint64_t from);
/* The nodes of a copy have names of their own. */
void graph_host_renumber(struct thread *t, uint64_t clone);
/*
 * A node was given another copy, which has got `held`, or was destroyed (NULL); c: what it had, as
 * the worker told of it.
 */
void graph_host_drop(uint64_t owner, uint64_t node, const struct vcuda_copy3d *c,
                     const struct graph_held *held);
/* Whether a node of an executable does what it is for. */
void graph_host_enable(uint64_t exec, uint64_t node, const struct vcuda_copy3d *c, bool on);

/*
 * Before something is made of a graph: pieces of memory that overlap, if any of them is written,
 * come into one block.
 */
CUresult graph_host_join(struct thread *t, uint64_t graph);

/* Around a launch of an executable in a stream: then with what came of it, which is returned. */
CUresult graph_host_launch(struct thread *t, uint64_t exec, uint64_t stream);
CUresult graph_host_launched(uint64_t exec, CUresult r);
/* The last launch in a stream that is not known to be done; 0: there is none. */
uint64_t graph_host_last_in(const struct thread *t, uint64_t stream);
/*
 * Before what an executable uses changes: its last launch is done with it, and what that wrote has
 * arrived. The error of the GPU.
 */
CUresult graph_host_settle(struct thread *t, uint64_t exec);
/* Before an executable ends: its last launch is done, and what it wrote has arrived. */
void graph_host_finish(struct thread *t, uint64_t exec);

/*
 * Around a host function: it reads what was written before, and what it writes is read afterwards.
 * It may stand between nodes, and nothing can be asked of the worker meanwhile. On one thread.
 * behind: the launch that it stands behind, in its stream; or 0.
 */
void graph_host_before_function(uint64_t behind);
void graph_host_after_function(void);

#endif
