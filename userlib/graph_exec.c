// SPDX-License-Identifier: Apache-2.0
/* What is made of graphs, and runs. */
#include "cuda_calls.h"
#include "capture.h"
#include "graph_host.h"
#include "guest.h"
#include "notes.h"
#include "wire.h"

/* What the driver says of an instantiation. */
struct outcome {
    int32_t result;
    uint64_t node;
};

static CUresult instantiate(struct thread *t, CUgraphExec *exec, CUgraph graph, uint64_t flags,
                            uint64_t stream, struct outcome *o) {
    int32_t status;
    uint64_t name;
    CUresult r = graph_host_join(t, (uint64_t)graph);

    if (r == CUDA_SUCCESS)
        r = wire_graph_instantiate(t, (uint64_t)graph, flags, stream, &status, &o->result, &name,
                                   &o->node);
    if (r == CUDA_SUCCESS)
        r = (CUresult)status;
    if (r != CUDA_SUCCESS)
        return r;
    if (!notes_set(name, 0, NULL, NULL) ||
        graph_host_inherit(name, (uint64_t)graph, 0) != CUDA_SUCCESS) {
        notes_end(name);
        wire_cuGraphExecDestroy(t, name);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *exec = (CUgraphExec)name;
    return CUDA_SUCCESS;
}

static CUresult enter_graph(struct thread **t, const void *out, CUgraph graph) {
    CUresult r = guest_enter(t);

    if (r == CUDA_SUCCESS && !out)
        r = CUDA_ERROR_INVALID_VALUE;
    return r == CUDA_SUCCESS ? guest_check(VCUDA_KIND_GRAPH, graph) : r;
}

VCUDA_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                                  unsigned long long flags) {
    struct outcome o = {0};
    struct thread *t;
    CUresult r = enter_graph(&t, phGraphExec, hGraph);

    return r == CUDA_SUCCESS ? instantiate(t, phGraphExec, hGraph, flags, 0, &o) : r;
}

VCUDA_EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                                   CUDA_GRAPH_INSTANTIATE_PARAMS *p) {
    struct outcome o = {0};
    uint64_t stream, context;
    struct thread *t;
    CUresult r = enter_graph(&t, phGraphExec, hGraph);

    if (r == CUDA_SUCCESS && !p)
        return CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = stream_resolve(t, p->hUploadStream, &stream, &context);
    if (r != CUDA_SUCCESS)
        return r;
    r = instantiate(t, phGraphExec, hGraph, p->flags, stream, &o);
    p->result_out = (CUgraphInstantiateResult)o.result;
    p->hErrNode_out = (CUgraphNode)o.node;
    return r;
}

VCUDA_EXPORT CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *phGraphExec, CUgraph hGraph,
                                                        CUDA_GRAPH_INSTANTIATE_PARAMS *p) {
    CUDA_GRAPH_INSTANTIATE_PARAMS own;
    CUresult r;

    if (!p)
        return cuGraphInstantiateWithParams(phGraphExec, hGraph, NULL);
    own = *p;
    own.hUploadStream = guest_per_thread(own.hUploadStream);
    r = cuGraphInstantiateWithParams(phGraphExec, hGraph, &own);
    p->result_out = own.result_out;
    p->hErrNode_out = own.hErrNode_out;
    return r;
}

/* The old forms tell the node that was wrong, and have a log in which nothing is written. */
VCUDA_EXPORT CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph,
                                            CUgraphNode *phErrorNode, char *logBuffer,
                                            size_t bufferSize) {
    struct outcome o = {0};
    struct thread *t;
    CUresult r = enter_graph(&t, phGraphExec, hGraph);

    if (r != CUDA_SUCCESS)
        return r;
    r = instantiate(t, phGraphExec, hGraph, 0, 0, &o);
    if (phErrorNode)
        *phErrorNode = (CUgraphNode)o.node;
    if (logBuffer && bufferSize)
        logBuffer[0] = 0;
    return r;
}

VCUDA_EXPORT CUresult cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph,
                                         CUgraphNode *phErrorNode, char *logBuffer,
                                         size_t bufferSize) {
    return cuGraphInstantiate_v2(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

VCUDA_EXPORT CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
    struct thread *t;
    CUresult r = guest_enter_any(&t);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_EXEC, hGraphExec);
    if (r == CUDA_SUCCESS)
        graph_host_finish(t, (uint64_t)hGraphExec);
    if (r == CUDA_SUCCESS)
        r = wire_cuGraphExecDestroy(t, (uint64_t)hGraphExec);
    if (r == CUDA_SUCCESS)
        notes_end((uint64_t)hGraphExec);
    return r;
}

/* Posted: that the executable is one must be known here. */
static CUresult enter_exec(struct thread **t, CUgraphExec exec, CUstream stream, uint64_t *name) {
    uint64_t context;
    CUresult r = guest_enter_about(t, VCUDA_KIND_STREAM, stream);

    if (r == CUDA_SUCCESS && !notes_has((uint64_t)exec))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_EXEC, exec);
    return r == CUDA_SUCCESS ? stream_resolve(*t, stream, name, &context) : r;
}

static CUresult inherit_captured(struct thread *t, uint64_t graph, uint64_t exec, uint64_t stream) {
    CUresult r;

    if (!graph_host_has(exec))
        return CUDA_SUCCESS;
    r = capture_remember(graph);
    return r == CUDA_SUCCESS ? graph_host_inherit(graph, exec, capture_last_node(t, stream)) : r;
}

VCUDA_EXPORT CUresult cuGraphLaunch(CUgraphExec hGraph, CUstream hStream) {
    struct thread *t;
    uint64_t stream;
    CUresult r = enter_exec(&t, hGraph, hStream, &stream);
    uint64_t outer = r == CUDA_SUCCESS ? capture_graph(t, stream) : 0;

    if (r == CUDA_SUCCESS && !outer)
        r = graph_host_launch(t, (uint64_t)hGraph, stream);
    if (r != CUDA_SUCCESS)
        return r;
    r = wire_cuGraphLaunch(t, (uint64_t)hGraph, stream);
    if (!outer)
        return graph_host_launched((uint64_t)hGraph, r);
    /* Captured, it becomes a graph within the graph. */
    return r == CUDA_SUCCESS ? inherit_captured(t, outer, (uint64_t)hGraph, stream) : r;
}

VCUDA_EXPORT CUresult cuGraphUpload(CUgraphExec hGraph, CUstream hStream) {
    struct thread *t;
    uint64_t stream;
    CUresult r = enter_exec(&t, hGraph, hStream, &stream);

    return r == CUDA_SUCCESS ? wire_cuGraphUpload(t, (uint64_t)hGraph, stream) : r;
}

/* What came of it need not be asked for. */
VCUDA_EXPORT CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                                           CUgraphExecUpdateResultInfo *resultInfo) {
    uint64_t node = 0, from = 0;
    int32_t status, result;
    struct thread *t;
    CUresult r = guest_enter(&t);

    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_EXEC, hGraphExec);
    if (r == CUDA_SUCCESS)
        r = guest_check(VCUDA_KIND_GRAPH, hGraph);
    if (r == CUDA_SUCCESS)
        r = graph_host_settle(t, (uint64_t)hGraphExec);
    if (r == CUDA_SUCCESS)
        r = graph_host_join(t, (uint64_t)hGraph);
    if (r == CUDA_SUCCESS)
        r = wire_graph_update(t, (uint64_t)hGraphExec, (uint64_t)hGraph, &status, &result, &node,
                              &from);
    if (r != CUDA_SUCCESS)
        return r;
    if (resultInfo)
        *resultInfo = (CUgraphExecUpdateResultInfo){(CUgraphExecUpdateResult)result,
                                                    (CUgraphNode)node, (CUgraphNode)from};
    if (status == CUDA_SUCCESS)
        return graph_host_become((uint64_t)hGraphExec, (uint64_t)hGraph);
    return (CUresult)status;
}

VCUDA_EXPORT CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph,
                                        CUgraphNode *hErrorNode_out,
                                        CUgraphExecUpdateResult *updateResult_out) {
    CUgraphExecUpdateResultInfo info = {0};
    CUresult r = cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);

    if (updateResult_out)
        *updateResult_out = info.result;
    if (hErrorNode_out)
        *hErrorNode_out = info.errorNode;
    return r;
}
