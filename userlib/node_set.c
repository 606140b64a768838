// SPDX-License-Identifier: Apache-2.0
/* The parameters of nodes changed, in graphs and in what was made of them. */
#include <string.h>

#include "cuda_calls.h"
#include "graph_host.h"
#include "graph_node.h"
#include "hostfunc.h"
#include "wire.h"

/* What the node copies now, as the worker has it, and whose that memory is. */
static CUresult look_at_copy(struct thread *t, uint64_t exec, CUgraphNode node,
                             const CUgraphNodeParams *p, uint64_t *owner,
                             struct vcuda_copy3d *before) {
    struct node_record now;
    CUresult r;

    *owner = exec;
    if (p->type != CU_GRAPH_NODE_TYPE_MEMCPY)
        return CUDA_SUCCESS;
    r = node_ask(node, CU_GRAPH_NODE_TYPE_MEMCPY, p, &now);
    if (r == CUDA_SUCCESS && exec)
        r = graph_host_settle(t, exec);
    if (r != CUDA_SUCCESS)
        return r;
    if (!exec)
        *owner = now.node.graph;
    *before = now.node.copy;
    return CUDA_SUCCESS;
}

/* Nobody tells when an executable lets go of one. Programs set the same ones over and over. */
static void keep_function(struct node_record *r) {
    hostfunc_drop(r->node.host.end);
    r->node.host.end = 0;
    r->node.host.function = hostfunc_keep(r->node.host.function);
}

/* A child's graph in an executable: what is remembered of it is that graph's from now on. */
static CUresult begin_child(struct thread *t, uint64_t exec, const CUgraphNodeParams *p) {
    CUresult r = graph_host_settle(t, exec);

    return r == CUDA_SUCCESS ? graph_host_join(t, (uint64_t)p->graph.graph) : r;
}

/* It has been done. */
static CUresult set_done(uint64_t exec, uint64_t owner, CUgraphNode node,
                         const CUgraphNodeParams *p, const struct vcuda_copy3d *before,
                         const struct node_record *record) {
    if (!exec)
        node_keep_form(node, 0, p);
    if (p->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        graph_host_drop(owner, (uint64_t)node, before, &record->held);
    if (exec && p->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return graph_host_child(exec, (uint64_t)node, (uint64_t)p->graph.graph);
    return CUDA_SUCCESS;
}

/* exec: NULL for the node in its graph. */
static CUresult set(CUgraphExec exec, bool in_exec, CUgraphNode node, const CUgraphNodeParams *p) {
    struct vcuda_copy3d before;
    struct node_record record;
    struct thread *t;
    uint64_t owner;
    CUresult r = guest_enter(&t);

    if (r == CUDA_SUCCESS && in_exec)
        r = guest_check(VCUDA_KIND_EXEC, exec);
    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_NODE, node);
    if (r == CUDA_SUCCESS)
        r = look_at_copy(t, in_exec ? (uint64_t)exec : 0, node, p, &owner, &before);
    if (r == CUDA_SUCCESS)
        r = node_write(t, p, owner, (uint64_t)node, &record);
    if (r == CUDA_SUCCESS && in_exec && p->type == CU_GRAPH_NODE_TYPE_GRAPH)
        r = begin_child(t, (uint64_t)exec, p);
    if (r != CUDA_SUCCESS)
        return r;
    if (in_exec && record.node.type == CU_GRAPH_NODE_TYPE_HOST)
        keep_function(&record);
    r = in_exec
            ? wire_graph_exec_set(t, (uint64_t)exec, (uint64_t)node, &record, node_bytes(&record))
            : wire_graph_node_set(t, (uint64_t)node, &record, node_bytes(&record));
    if (r == CUDA_SUCCESS)
        return set_done(in_exec ? (uint64_t)exec : 0, owner, node, p, &before, &record);
    node_drop(owner, &record);
    return r;
}

/* A copy that does nothing brings nothing to the program either. */
VCUDA_EXPORT CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            unsigned int isEnabled) {
    struct node_record now;
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_EXEC, hGraphExec);
    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_NODE, hNode);
    if (r == CUDA_SUCCESS)
        r = graph_host_settle(t, (uint64_t)hGraphExec);
    if (r == CUDA_SUCCESS)
        r = wire_cuGraphNodeSetEnabled(t, (uint64_t)hGraphExec, (uint64_t)hNode, isEnabled);
    if (r == CUDA_SUCCESS && graph_host_has((uint64_t)hGraphExec) &&
        node_ask(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, hNode, &now) == CUDA_SUCCESS)
        graph_host_enable((uint64_t)hGraphExec, (uint64_t)hNode, &now.node.copy, isEnabled);
    return r;
}

VCUDA_EXPORT CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams) {
    return nodeParams ? set(NULL, false, hNode, nodeParams) : CUDA_ERROR_INVALID_VALUE;
}

VCUDA_EXPORT CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                               CUgraphNodeParams *nodeParams) {
    return nodeParams ? set(hGraphExec, true, hNode, nodeParams) : CUDA_ERROR_INVALID_VALUE;
}

/* Both forms of a call that takes one kind's parameters: of a node, and of a node in an exec. */
#define SETTERS(node_name, exec_name, params, node_type, member)                                   \
    VCUDA_EXPORT CUresult node_name(CUgraphNode hNode, const params *nodeParams) {                 \
        CUgraphNodeParams p = {.type = node_type};                                                 \
                                                                                                   \
        if (!nodeParams)                                                                           \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        memcpy(&p.member, nodeParams, sizeof(*nodeParams));                                        \
        return set(NULL, false, hNode, &p);                                                        \
    }                                                                                              \
    VCUDA_EXPORT CUresult exec_name(CUgraphExec hGraphExec, CUgraphNode hNode,                     \
                                    const params *nodeParams) {                                    \
        CUgraphNodeParams p = {.type = node_type};                                                 \
                                                                                                   \
        if (!nodeParams)                                                                           \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        memcpy(&p.member, nodeParams, sizeof(*nodeParams));                                        \
        return set(hGraphExec, true, hNode, &p);                                                   \
    }

SETTERS(cuGraphKernelNodeSetParams_v2, cuGraphExecKernelNodeSetParams_v2, CUDA_KERNEL_NODE_PARAMS,
        CU_GRAPH_NODE_TYPE_KERNEL, kernel)
SETTERS(cuGraphKernelNodeSetParams, cuGraphExecKernelNodeSetParams, CUDA_KERNEL_NODE_PARAMS_v1,
        CU_GRAPH_NODE_TYPE_KERNEL, kernel)
SETTERS(cuGraphHostNodeSetParams, cuGraphExecHostNodeSetParams, CUDA_HOST_NODE_PARAMS,
        CU_GRAPH_NODE_TYPE_HOST, host)
SETTERS(cuGraphBatchMemOpNodeSetParams, cuGraphExecBatchMemOpNodeSetParams,
        CUDA_BATCH_MEM_OP_NODE_PARAMS, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, memOp)

/* Without a context the driver keeps the node's own, or takes the current one. */
VCUDA_EXPORT CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode,
                                                 const CUDA_MEMCPY3D *nodeParams) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};

    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    p.memcpy.copyParams = *nodeParams;
    return set(NULL, false, hNode, &p);
}

VCUDA_EXPORT CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                     const CUDA_MEMCPY3D *copyParams,
                                                     CUcontext ctx) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};

    if (!copyParams)
        return CUDA_ERROR_INVALID_VALUE;
    p.memcpy.copyCtx = ctx;
    p.memcpy.copyParams = *copyParams;
    return set(hGraphExec, true, hNode, &p);
}

VCUDA_EXPORT CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode,
                                                 const CUDA_MEMSET_NODE_PARAMS *nodeParams) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMSET};

    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&p.memset, nodeParams, sizeof(*nodeParams));
    return set(NULL, false, hNode, &p);
}

VCUDA_EXPORT CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                     const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                                                     CUcontext ctx) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMSET};

    if (!memsetParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&p.memset, memsetParams, sizeof(*memsetParams));
    p.memset.ctx = ctx;
    return set(hGraphExec, true, hNode, &p);
}

VCUDA_EXPORT CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                         CUgraph childGraph) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {.graph = childGraph}};

    return set(hGraphExec, true, hNode, &p);
}

#define EVENT_SETTERS(node_name, exec_name, node_type)                                             \
    VCUDA_EXPORT CUresult node_name(CUgraphNode hNode, CUevent event) {                            \
        CUgraphNodeParams p = {.type = node_type, .eventRecord = {event}};                         \
                                                                                                   \
        return set(NULL, false, hNode, &p);                                                        \
    }                                                                                              \
    VCUDA_EXPORT CUresult exec_name(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {    \
        CUgraphNodeParams p = {.type = node_type, .eventRecord = {event}};                         \
                                                                                                   \
        return set(hGraphExec, true, hNode, &p);                                                   \
    }

EVENT_SETTERS(cuGraphEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent,
              CU_GRAPH_NODE_TYPE_EVENT_RECORD)
EVENT_SETTERS(cuGraphEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent,
              CU_GRAPH_NODE_TYPE_WAIT_EVENT)
