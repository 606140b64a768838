// SPDX-License-Identifier: Apache-2.0
/* The calls about graphs that take one kind of node, and older forms of those that take all. */
#include <string.h>

#include "graph.h"

/* A node of a kind, added, changed in its graph, and changed in what was made of it. */
#define NODE(kind, add, set, exec_set, params, member)                                             \
    CUresult add(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,        \
                 size_t numDependencies, const params *nodeParams) {                               \
        CUgraphNodeParams p = {.type = kind};                                                      \
                                                                                                   \
        if (!nodeParams)                                                                           \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        memcpy(&p.member, nodeParams, sizeof(*nodeParams));                                        \
        return cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, NULL, numDependencies, &p);    \
    }                                                                                              \
    CUresult set(CUgraphNode hNode, const params *nodeParams) {                                    \
        CUgraphNodeParams p = {.type = kind};                                                      \
                                                                                                   \
        if (!nodeParams)                                                                           \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        memcpy(&p.member, nodeParams, sizeof(*nodeParams));                                        \
        return cuGraphNodeSetParams(hNode, &p);                                                    \
    }                                                                                              \
    CUresult exec_set(CUgraphExec hGraphExec, CUgraphNode hNode, const params *nodeParams) {       \
        CUgraphNodeParams p = {.type = kind};                                                      \
                                                                                                   \
        if (!nodeParams)                                                                           \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        memcpy(&p.member, nodeParams, sizeof(*nodeParams));                                        \
        return cuGraphExecNodeSetParams(hGraphExec, hNode, &p);                                    \
    }

NODE(CU_GRAPH_NODE_TYPE_KERNEL, cuGraphAddKernelNode_v2, cuGraphKernelNodeSetParams_v2,
     cuGraphExecKernelNodeSetParams_v2, CUDA_KERNEL_NODE_PARAMS, kernel)
NODE(CU_GRAPH_NODE_TYPE_KERNEL, cuGraphAddKernelNode, cuGraphKernelNodeSetParams,
     cuGraphExecKernelNodeSetParams, CUDA_KERNEL_NODE_PARAMS_v1, kernel)
NODE(CU_GRAPH_NODE_TYPE_HOST, cuGraphAddHostNode, cuGraphHostNodeSetParams,
     cuGraphExecHostNodeSetParams, CUDA_HOST_NODE_PARAMS, host)
NODE(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, cuGraphAddBatchMemOpNode, cuGraphBatchMemOpNodeSetParams,
     cuGraphExecBatchMemOpNodeSetParams, CUDA_BATCH_MEM_OP_NODE_PARAMS, memOp)

CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams) {
    CUDA_KERNEL_NODE_PARAMS p;
    CUresult result =
        nodeParams ? cuGraphKernelNodeGetParams_v2(hNode, &p) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        memcpy(nodeParams, &p, sizeof(*nodeParams));
    return result;
}

static CUresult copy_params(CUgraphNodeParams *p, const CUDA_MEMCPY3D *copy, CUcontext ctx) {
    *p = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    p->memcpy.copyCtx = ctx;
    p->memcpy.copyParams = *copy;
    return CUDA_SUCCESS;
}

static CUresult fill_params(CUgraphNodeParams *p, const CUDA_MEMSET_NODE_PARAMS *fill,
                            CUcontext ctx) {
    *p = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMSET};
    if (!fill)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&p->memset, fill, sizeof(*fill));
    p->memset.ctx = ctx;
    return CUDA_SUCCESS;
}

/* The two kinds that are told their context beside their parameters. */
#define CONTEXT_NODE(make, add, set, exec_set, params)                                             \
    CUresult add(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,        \
                 size_t numDependencies, const params *nodeParams, CUcontext ctx) {                \
        CUgraphNodeParams p;                                                                       \
        CUresult r = make(&p, nodeParams, ctx);                                                    \
                                                                                                   \
        return r == CUDA_SUCCESS ? cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, NULL,      \
                                                     numDependencies, &p)                          \
                                 : r;                                                              \
    }                                                                                              \
    CUresult set(CUgraphNode hNode, const params *nodeParams) {                                    \
        CUgraphNodeParams p;                                                                       \
        CUresult r = make(&p, nodeParams, NULL);                                                   \
                                                                                                   \
        return r == CUDA_SUCCESS ? cuGraphNodeSetParams(hNode, &p) : r;                            \
    }                                                                                              \
    CUresult exec_set(CUgraphExec hGraphExec, CUgraphNode hNode, const params *nodeParams,         \
                      CUcontext ctx) {                                                             \
        CUgraphNodeParams p;                                                                       \
        CUresult r = make(&p, nodeParams, ctx);                                                    \
                                                                                                   \
        return r == CUDA_SUCCESS ? cuGraphExecNodeSetParams(hGraphExec, hNode, &p) : r;            \
    }

CONTEXT_NODE(copy_params, cuGraphAddMemcpyNode, cuGraphMemcpyNodeSetParams,
             cuGraphExecMemcpyNodeSetParams, CUDA_MEMCPY3D)
CONTEXT_NODE(fill_params, cuGraphAddMemsetNode, cuGraphMemsetNodeSetParams,
             cuGraphExecMemsetNodeSetParams, CUDA_MEMSET_NODE_PARAMS)

CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                             const CUgraphNode *dependencies, size_t numDependencies) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_EMPTY};

    return cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, NULL, numDependencies, &p);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                const CUgraphNode *dependencies, size_t numDependencies,
                                CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    CUresult result;

    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&p.alloc, nodeParams, sizeof(*nodeParams));
    result = cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, NULL, numDependencies, &p);
    if (result == CUDA_SUCCESS)
        nodeParams->dptr = p.alloc.dptr;
    return result;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                               const CUgraphNode *dependencies, size_t numDependencies,
                               CUdeviceptr dptr) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free.dptr = dptr};

    return cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, NULL, numDependencies, &p);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            CUgraph childGraph) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph.graph = childGraph};

    return cuGraphExecNodeSetParams(hGraphExec, hNode, &p);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                  const CUgraphNode *dependencies, size_t numDependencies,
                                  CUgraph childGraph) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {.graph = childGraph}};

    return cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, NULL, numDependencies, &p);
}

/* The two kinds of nodes that are about an event. */
#define EVENT_NODE(kind, add, set, exec_set)                                                       \
    CUresult add(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,        \
                 size_t numDependencies, CUevent event) {                                          \
        CUgraphNodeParams p = {.type = kind, .eventRecord = {event}};                              \
                                                                                                   \
        return cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, NULL, numDependencies, &p);    \
    }                                                                                              \
    CUresult set(CUgraphNode hNode, CUevent event) {                                               \
        CUgraphNodeParams p = {.type = kind, .eventRecord = {event}};                              \
                                                                                                   \
        return cuGraphNodeSetParams(hNode, &p);                                                    \
    }                                                                                              \
    CUresult exec_set(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {                  \
        CUgraphNodeParams p = {.type = kind, .eventRecord = {event}};                              \
                                                                                                   \
        return cuGraphExecNodeSetParams(hGraphExec, hNode, &p);                                    \
    }

EVENT_NODE(CU_GRAPH_NODE_TYPE_EVENT_RECORD, cuGraphAddEventRecordNode,
           cuGraphEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent)
EVENT_NODE(CU_GRAPH_NODE_TYPE_WAIT_EVENT, cuGraphAddEventWaitNode, cuGraphEventWaitNodeSetEvent,
           cuGraphExecEventWaitNodeSetEvent)

/* Forms without data of the edges. */
CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                        size_t numDependencies, CUgraphNodeParams *nodeParams) {
    return cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, NULL, numDependencies, nodeParams);
}

CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges) {
    return cuGraphGetEdges_v2(hGraph, from, to, NULL, numEdges);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies,
                                    size_t *numDependencies) {
    return cuGraphNodeGetDependencies_v2(hNode, dependencies, NULL, numDependencies);
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                      size_t *numDependentNodes) {
    return cuGraphNodeGetDependentNodes_v2(hNode, dependentNodes, NULL, numDependentNodes);
}

CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t numDependencies) {
    return cuGraphAddDependencies_v2(hGraph, from, to, NULL, numDependencies);
}

CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                   size_t numDependencies) {
    return cuGraphRemoveDependencies_v2(hGraph, from, to, NULL, numDependencies);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                     unsigned long long flags) {
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = flags};

    return cuGraphInstantiateWithParams(phGraphExec, hGraph, &p);
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *phGraphExec, CUgraph hGraph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams) {
    return cuGraphInstantiateWithParams(phGraphExec, hGraph, instantiateParams);
}

CUresult cuGraphUpload_ptsz(CUgraphExec hGraph, CUstream hStream) {
    return cuGraphUpload(hGraph, hStream);
}
