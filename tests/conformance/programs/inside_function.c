// SPDX-License-Identifier: Apache-2.0
/*
 * Streams that are asked for inside a host function: its own and others, in graphs. Not behind a
 * fault: a driver was seen to wait for ever there.
 */

#include "common.h"

KERNELS(basics);

static CUstream own, other;
static CUresult of_own, of_other;

static void ask(void *data) {
    (void)data;
    of_own = cuStreamQuery(own);
    of_other = cuStreamQuery(other);
}

static void ask_back(CUstream stream, CUresult status, void *data) {
    (void)stream, (void)status;
    ask(data);
}

static void make_streams(void) {
    start();
    CK(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    CK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CK(cuStreamSynchronize(other));
}

static void told(const char *when) {
    printf("%s: of its own %d, of another %d\n", when, of_own, of_other);
}

static void of_another(void) {
    CUcontext second;

    make_streams();
    CK(cuLaunchHostFunc(own, ask, NULL));
    CK(cuStreamSynchronize(own));
    told("one that is idle");
    CK(cuCtxCreate(&second, NULL, 0, 0));
    CK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CK(cuCtxPopCurrent(&second));
    CK(cuStreamAddCallback(own, ask_back, NULL, 0));
    CK(cuStreamSynchronize(own));
    told("one of another context");
}

static void in_a_graph(void) {
    CUDA_HOST_NODE_PARAMS function = {ask, NULL};
    CUgraphExec exec;
    CUgraphNode node;
    CUgraph graph;

    make_streams();
    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddHostNode(&node, graph, NULL, 0, &function));
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CK(cuGraphLaunch(exec, own));
    CK(cuStreamSynchronize(own));
    told("a node");
    CK(cuStreamBeginCapture(own, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuLaunchHostFunc(own, ask, NULL));
    CK(cuStreamEndCapture(own, &graph));
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CK(cuGraphLaunch(exec, other));
    CK(cuStreamSynchronize(other));
    told("captured in its own, run in the other");
}

int main(void) {
    apart("others", of_another);
    apart("in a graph", in_a_graph);
    return 0;
}
