/* SPDX-License-Identifier: Apache-2.0 */
/* A capture under way, for the files that make and steer one. All under the graphs' lock. */
#ifndef SIMGPU_CAPTURE_H
#define SIMGPU_CAPTURE_H

#include "graph.h"

struct sim_capture {
    unsigned refs; /* streams and events that belong to it */
    struct sim_graph *graph;
    bool given; /* the program's own graph */
    bool invalid;
    bool over;
    struct sim_stream *origin;
    uint64_t id;
    pthread_t thread;
    CUstreamCaptureMode mode;
    struct sim_capture *next; /* all that are under way */
};

/* The capture that a stream or an event is in; one that is over is none. */
struct sim_capture *sim_capture_of(struct sim_tips *t);
/* Whether the default stream of the context would wait for a captured one. */
bool sim_capture_hits(struct sim_stream *legacy, bool invalidate);

/* It stands after these nodes from now on, or after these as well. */
void sim_tips_set(struct sim_tips *t, struct sim_capture *c, struct sim_node *const *nodes,
                  size_t count);
void sim_tips_add(struct sim_tips *t, const struct sim_tips *more);

/* The nodes of handles, which must be the graph's, without references; to be freed. */
CUresult sim_nodes_of(const struct sim_graph *graph, const CUgraphNode *handles, size_t count,
                      struct sim_node ***nodes);

#endif
