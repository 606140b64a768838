/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a graph's node: the record's form (protocol/graph.h) and the driver's. */
#ifndef VCUDA_WORKER_GRAPH_PARAMS_H
#define VCUDA_WORKER_GRAPH_PARAMS_H

#include "graphs.h"

struct node_params {
    CUgraphNodeParams native;
    CUcontext context;
    uint64_t graph; /* name of the one that the node is of */
    void *memory;   /* that native points into */
};

/* Checks a record's form and translates it. On CUDA_SUCCESS node_params_drop() ends it. */
CUresult node_params_build(struct worker *w, uint64_t graph, const void *record, uint32_t len,
                           struct node_params *p);
void node_params_drop(struct node_params *p);

/*
 * The other way: asks the driver for the parameters of a node of that type, and writes their form
 * into `out`, at most `cap` bytes.
 */
CUresult node_params_tell(struct worker *w, CUgraphNode node, uint32_t type, void *out,
                          uint32_t cap, uint32_t *len);

/* A copy's form, checked, into the driver's; and back. */
CUresult copy3d_native(struct worker *w, const struct vcuda_copy3d *c, CUDA_MEMCPY3D *out);
CUresult copy3d_told(struct worker *w, const CUDA_MEMCPY3D *in, struct vcuda_copy3d *out);

#endif
