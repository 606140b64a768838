// SPDX-License-Identifier: Apache-2.0
/* Nodes from what programs say of them, and back. */
#include <string.h>

#include "graph_condition.h"
#include "graph_memory.h"
#include "launch.h"

/* What a node does; events and graphs it refers to. */
struct content {
    struct sim_op *op;
    struct sim_event *event;
    struct sim_graph *child;
    struct sim_branches *branches;
};

static CUresult make(struct sim_context *context, CUgraphNodeParams *p, struct content *c) {
    memset(c, 0, sizeof(*c));
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return sim_launch_op(context, &p->kernel, &c->op);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return sim_copy3d_op(&p->memcpy.copyParams, &c->op);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return sim_fill2d_op(&p->memset, &c->op);
    case CU_GRAPH_NODE_TYPE_HOST:
        return sim_host_op(&p->host, &c->op);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        if (p->graph.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
            return CUDA_ERROR_NOT_SUPPORTED;
        return cuGraphClone((CUgraph *)&c->child, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        c->event = sim_handle_get(p->eventRecord.event, SIM_EVENT);
        if (c->event && c->event->share) {
            sim_put(c->event);
            return CUDA_ERROR_NOT_SUPPORTED;
        }
        return c->event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return CUDA_ERROR_NOT_SUPPORTED;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return sim_graph_alloc_op(&p->alloc, &c->op);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return sim_graph_free_op(&p->free, &c->op);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return sim_memop_op(context, &p->memOp, &c->op);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return sim_branches_make(&p->conditional, &c->branches);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static void drop(struct content *c) {
    if (c->op)
        sim_op_discard(c->op);
    sim_put(c->event);
    if (c->child)
        cuGraphDestroy((CUgraph)c->child);
    if (c->branches) {
        sim_graph_lock();
        sim_branches_end(c->branches);
        sim_graph_unlock();
    }
}

/* The graph was made by a call, which gave its handle. */
static void settle(struct sim_node *node, struct content *c) {
    node->event = c->event;
    node->branches = c->branches;
    if (c->child) {
        SIM_AUTO struct sim_graph *child = sim_handle_get(c->child, SIM_GRAPH);

        node->child = child;
        child->owned = true;
    }
}

CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                           const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
                           size_t numDependencies, CUgraphNodeParams *nodeParams) {
    SIM_AUTO struct sim_graph *graph = NULL;
    struct sim_node *node;
    struct content c;
    SIM_ENTER(context);
    CUresult result;

    graph = sim_handle_get(hGraph, SIM_GRAPH);
    if (!graph || !phGraphNode || !nodeParams || (numDependencies && !dependencies) ||
        nodeParams->reserved2)
        return CUDA_ERROR_INVALID_VALUE;
    result = make(context, nodeParams, &c);
    if (result != CUDA_SUCCESS)
        return result;
    sim_graph_lock();
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_FREE &&
        sim_graph_frees(graph, nodeParams->free.dptr)) {
        sim_graph_unlock();
        drop(&c);
        return CUDA_ERROR_INVALID_VALUE;
    }
    node = sim_node_add(graph, nodeParams->type, c.op, NULL, 0);
    c.op = NULL;
    result = node ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    if (node)
        settle(node, &c);
    for (size_t i = 0; i < numDependencies && result == CUDA_SUCCESS; i++) {
        SIM_AUTO struct sim_node *on = sim_handle_get(dependencies[i], SIM_NODE);

        result = on ? sim_node_depend(node, on, dependencyData ? &dependencyData[i] : NULL)
                    : CUDA_ERROR_INVALID_VALUE;
    }
    sim_graph_unlock();
    if (!node)
        drop(&c);
    else if (result != CUDA_SUCCESS)
        cuGraphDestroyNode(SIM_HANDLE(node));
    else
        *phGraphNode = SIM_HANDLE(node);
    return result;
}

/* Under the lock: a kernel's node keeps its attributes, whatever else it is given. */
static CUresult keep_settings(struct content *c, const struct sim_work *before) {
    struct sim_op *op;
    CUresult result;

    if (!c->op || c->op->kind != CU_GRAPH_NODE_TYPE_KERNEL)
        return CUDA_SUCCESS;
    result = sim_launch_with(c->op, sim_launch_settings_of(before->op), &op);
    if (result == CUDA_SUCCESS) {
        sim_op_discard(c->op);
        c->op = op;
    }
    return result;
}

/* Under the lock: the work or the event is replaced by the new one, which is taken. */
static CUresult replace(struct sim_work **work, struct sim_event **event, struct content *c) {
    CUresult result = keep_settings(c, *work);
    struct sim_work *next;

    if (result != CUDA_SUCCESS)
        return result;
    if (c->op) {
        next = sim_work_new(c->op);
        if (!next)
            return CUDA_ERROR_OUT_OF_MEMORY;
        c->op = NULL;
        sim_work_put(*work);
        *work = next;
    }
    if (c->event) {
        sim_put(*event);
        *event = c->event;
        c->event = NULL;
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams) {
    SIM_AUTO struct sim_node *node = NULL;
    struct content c;
    SIM_ENTER(context);
    CUresult result;

    node = sim_handle_get(hNode, SIM_NODE);
    if (!node || !nodeParams || node->type != nodeParams->type)
        return CUDA_ERROR_INVALID_VALUE;
    if (node->child || node->branches || sim_is_graph_memory(node->type))
        return CUDA_ERROR_NOT_SUPPORTED;
    result = make(context, nodeParams, &c);
    if (result != CUDA_SUCCESS)
        return result;
    sim_graph_lock();
    result = replace(&node->work, &node->event, &c);
    sim_graph_unlock();
    if (result != CUDA_SUCCESS)
        drop(&c);
    return result;
}

/* Copies and fills that have more than one row may not change once something is made of them. */
static bool has_rows(const struct sim_op *op) {
    CUgraphNodeParams p = {0};

    if (op->kind == CU_GRAPH_NODE_TYPE_MEMSET) {
        op->tell(op, &p);
        return p.memset.height > 1;
    }
    if (op->kind == CU_GRAPH_NODE_TYPE_MEMCPY) {
        op->tell(op, &p);
        return p.memcpy.copyParams.Height > 1 || p.memcpy.copyParams.Depth > 1;
    }
    return false;
}

/* The same for a step, which the driver finds by the node that it was made of. */
CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                  CUgraphNodeParams *nodeParams) {
    SIM_AUTO struct sim_exec *exec = NULL;
    struct sim_step *s;
    struct content c;
    SIM_ENTER(context);
    CUresult result;

    exec = sim_handle_get(hGraphExec, SIM_EXEC);
    if (!exec || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return sim_exec_set_child(exec, hNode, nodeParams->graph.graph);
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_CONDITIONAL || sim_is_graph_memory(nodeParams->type))
        return CUDA_ERROR_NOT_SUPPORTED;
    result = make(context, nodeParams, &c);
    if (result != CUDA_SUCCESS)
        return result;
    result = CUDA_ERROR_INVALID_VALUE;
    sim_graph_lock();
    s = sim_exec_step(exec, hNode);
    if (s && s->type == nodeParams->type && !(c.op && (has_rows(c.op) || has_rows(s->work->op))))
        result = replace(&s->work, &s->event, &c);
    sim_graph_unlock();
    if (result != CUDA_SUCCESS)
        drop(&c);
    return result;
}

/* What an operation that became a node was asked to do. */
static CUresult tell(CUgraphNode hNode, CUgraphNodeType type, CUgraphNodeParams *p) {
    SIM_AUTO struct sim_node *node = sim_handle_get(hNode, SIM_NODE);
    CUresult result = CUDA_ERROR_INVALID_VALUE;

    SIM_READY();
    if (!node || node->type != type)
        return CUDA_ERROR_INVALID_VALUE;
    sim_graph_lock();
    if (node->event) {
        p->eventRecord.event = SIM_HANDLE(node->event);
        result = CUDA_SUCCESS;
    } else if (node->work && node->work->op->tell) {
        node->work->op->tell(node->work->op, p);
        result = CUDA_SUCCESS;
    }
    sim_graph_unlock();
    return result;
}

#define TELL(name, params, node_type, member)                                                      \
    CUresult name(CUgraphNode hNode, params *out) {                                                \
        CUgraphNodeParams p = {0};                                                                 \
        CUresult result = out ? tell(hNode, node_type, &p) : CUDA_ERROR_INVALID_VALUE;             \
                                                                                                   \
        if (result == CUDA_SUCCESS)                                                                \
            memcpy(out, &p.member, sizeof(*out));                                                  \
        return result;                                                                             \
    }

TELL(cuGraphKernelNodeGetParams_v2, CUDA_KERNEL_NODE_PARAMS, CU_GRAPH_NODE_TYPE_KERNEL, kernel)
TELL(cuGraphMemcpyNodeGetParams, CUDA_MEMCPY3D, CU_GRAPH_NODE_TYPE_MEMCPY, memcpy.copyParams)
TELL(cuGraphMemsetNodeGetParams, CUDA_MEMSET_NODE_PARAMS, CU_GRAPH_NODE_TYPE_MEMSET, memset)
TELL(cuGraphHostNodeGetParams, CUDA_HOST_NODE_PARAMS, CU_GRAPH_NODE_TYPE_HOST, host)
TELL(cuGraphMemAllocNodeGetParams, CUDA_MEM_ALLOC_NODE_PARAMS, CU_GRAPH_NODE_TYPE_MEM_ALLOC, alloc)
TELL(cuGraphMemFreeNodeGetParams, CUdeviceptr, CU_GRAPH_NODE_TYPE_MEM_FREE, free.dptr)
TELL(cuGraphBatchMemOpNodeGetParams, CUDA_BATCH_MEM_OP_NODE_PARAMS, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
     memOp)
TELL(cuGraphEventRecordNodeGetEvent, CUevent, CU_GRAPH_NODE_TYPE_EVENT_RECORD, eventRecord.event)
TELL(cuGraphEventWaitNodeGetEvent, CUevent, CU_GRAPH_NODE_TYPE_WAIT_EVENT, eventWait.event)
