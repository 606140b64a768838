// SPDX-License-Identifier: Apache-2.0
/* Conditional nodes that run by their default value: no kernel sets it. */
#include "common.h"

static CUcontext context;
static CUdeviceptr x;
static CUstream s;

static void body(CUgraph graph, unsigned int value) {
    CUDA_MEMSET_NODE_PARAMS m = {x, 0, value, 4, 1, 1};
    CUgraphNode node;

    SHOW(cuGraphAddMemsetNode(&node, graph, NULL, 0, &m, context));
}

static void one(CUgraphConditionalNodeType type, unsigned int size, unsigned int value) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUgraphConditionalHandle handle = 0;
    CUgraphNodeType kind;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraph graph;
    int got = -1;

    printf("-- type %d size %u value %u\n", type, size, value);
    CK(cuMemsetD32(x, 0, 1));
    CK(cuCtxSynchronize());
    CK(cuGraphCreate(&graph, 0));
    SHOW(cuGraphConditionalHandleCreate(&handle, graph, context, value,
                                        CU_GRAPH_COND_ASSIGN_DEFAULT));
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = size;
    p.conditional.ctx = context;
    SHOW(cuGraphAddNode(&node, graph, NULL, NULL, 0, &p));
    if (!p.conditional.phGraph_out) {
        printf("no graphs\n");
        CK(cuGraphDestroy(graph));
        return;
    }
    SHOW(cuGraphNodeGetType(node, &kind));
    printf("kind %d\n", kind);
    for (unsigned int i = 0; i < size; i++)
        body(p.conditional.phGraph_out[i], 10 + i);
    SHOW(cuGraphInstantiateWithFlags(&exec, graph, 0));
    SHOW(cuGraphLaunch(exec, s));
    SHOW(cuStreamSynchronize(s));
    CK(cuMemcpyDtoH(&got, x, 4));
    printf("got %d\n", got);
    SHOW(cuGraphExecDestroy(exec));
    SHOW(cuGraphDestroy(graph));
}

static void wrong(void) {
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUgraphConditionalHandle handle;
    CUgraphNode node;
    CUgraph graph;

    printf("-- wrong\n");
    CK(cuGraphCreate(&graph, 0));
    SHOW(cuGraphConditionalHandleCreate(NULL, graph, context, 0, 0));
    SHOW(cuGraphConditionalHandleCreate(&handle, NULL, context, 0, 0));
    SHOW(cuGraphConditionalHandleCreate(&handle, graph, NULL, 0, 0));
    SHOW(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 8));
    CK(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0));
    p.conditional.handle = handle;
    p.conditional.ctx = context;
    p.conditional.size = 0;
    SHOW(cuGraphAddNode(&node, graph, NULL, NULL, 0, &p));
    p.conditional.size = 1, p.conditional.type = 9;
    SHOW(cuGraphAddNode(&node, graph, NULL, NULL, 0, &p));
    p.conditional.type = CU_GRAPH_COND_TYPE_WHILE, p.conditional.size = 2;
    SHOW(cuGraphAddNode(&node, graph, NULL, NULL, 0, &p));
    CK(cuGraphDestroy(graph));
}

int main(void) {
    context = start();
    CK(cuMemAlloc(&x, 4096));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    one(CU_GRAPH_COND_TYPE_IF, 1, 1);
    one(CU_GRAPH_COND_TYPE_IF, 1, 0);
    one(CU_GRAPH_COND_TYPE_IF, 2, 0);
    one(CU_GRAPH_COND_TYPE_WHILE, 1, 0);
    one(CU_GRAPH_COND_TYPE_SWITCH, 3, 2);
    one(CU_GRAPH_COND_TYPE_SWITCH, 3, 7);
    wrong();
    return 0;
}
