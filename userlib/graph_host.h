/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pageable memory in graphs. A node reads and writes the program's memory each time it runs; the
 * GPU cannot reach it here. So the node is given a buffer in the arena, which is filled before each
 * launch of the graph and emptied when the launch is done and the program has waited for it.
 * Nodes of a graph whose memory is the same, or a piece of another's, have one buffer: what one of
 * them writes the next one reads.
 *
 * The list of such buffers belongs to a graph, or to what was made of one, by its name.
 */
#ifndef VCUDA_USERLIB_GRAPH_HOST_H
#define VCUDA_USERLIB_GRAPH_HOST_H

#include <stdbool.h>

#include "copy3d.h"
#include "guest.h"

/*
 * Replaces memory in a copy that the GPU does not reach by buffers, on behalf of `owner`, the name
 * of a graph or of an executable, and of its node (0: not known).
 */
CUresult graph_host_buffer(struct thread *t, uint64_t owner, uint64_t node, struct vcuda_copy3d *c);
/* Puts the program's memory back into a copy that the worker told of. */
void graph_host_original(struct vcuda_copy3d *c);

/*
 * What `from` has, `to` has as well: it was copied, put inside, or instantiated. only: and nothing
 * else any more.
 */
CUresult graph_host_inherit(uint64_t to, uint64_t from, bool only);
/* A node was given another copy, or was destroyed; c: what it had, as the worker told of it. */
void graph_host_drop(uint64_t owner, uint64_t node, const struct vcuda_copy3d *c);

/* Around a launch of an executable in a stream. */
CUresult graph_host_launch(struct thread *t, uint64_t exec);
CUresult graph_host_launched(struct thread *t, uint64_t exec, CUstream stream);
/*
 * Before what an executable uses changes: its last launch is done with it, and what that wrote has
 * arrived. The error of the GPU.
 */
CUresult graph_host_settle(struct thread *t, uint64_t exec);
/* Before an executable ends: its last launch is done, and what it wrote has arrived. */
void graph_host_finish(struct thread *t, uint64_t exec);

#endif
