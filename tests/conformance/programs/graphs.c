// SPDX-License-Identifier: Apache-2.0
/* Graphs as programs use them: captured and built by hand, launched again and again, changed. */
#include "common.h"

KERNELS(basics);

static CUcontext context;
static CUfunction fill_index, chain;
static CUdeviceptr x, y;
static CUstream s, other;
static int *pinned, called;

static void called_back(void *arg) {
    called += *(int *)arg;
}

static void launch(CUfunction f, CUstream stream, void **args, int threads) {
    CK(cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, stream, args, NULL));
}

static CUgraphExec exec_of(CUgraph graph) {
    CUgraphExec exec;

    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CK(cuGraphDestroy(graph));
    return exec;
}

/* x = base + i; y = x; y[0] = 3 * y[0] + 1 on a second stream; both back. */
static CUgraph captured(int base) {
    int n = 64, rounds = 1;
    CUevent fork, join;
    CUgraph graph;

    CK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    CK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch(fill_index, s, (void *[]){&x, &n, &base}, 64);
    CK(cuMemcpyDtoDAsync(y, x, 256, s));
    CK(cuEventRecord(fork, s));
    CK(cuStreamWaitEvent(other, fork, 0));
    launch(chain, other, (void *[]){&y, &rounds}, 1);
    CK(cuEventRecord(join, other));
    CK(cuMemcpyDtoHAsync(pinned, x, 256, s));
    CK(cuStreamWaitEvent(s, join, 0));
    CK(cuMemcpyDtoHAsync(pinned + 64, y, 256, s));
    CK(cuStreamEndCapture(s, &graph));
    CK(cuEventDestroy(fork));
    CK(cuEventDestroy(join));
    return graph;
}

static void replay(void) {
    CUgraph graph = captured(10), next;
    CUgraphExecUpdateResultInfo info;
    CUgraphNode nodes[16];
    CUgraphExec exec;
    size_t n = 16, edges = 0;

    CK(cuGraphGetNodes(graph, nodes, &n));
    CK(cuGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    printf("nodes %zu edges %zu\n", n, edges);
    exec = exec_of(graph);
    for (int i = 0; i < 100; i++) {
        CK(cuMemsetD32Async(x, 0, 64, s));
        CK(cuGraphLaunch(exec, s));
    }
    SHOW(cuStreamSynchronize(s));
    printf("%d %d %d %d\n", pinned[0], pinned[63], pinned[64], pinned[127]);
    next = captured(500);
    SHOW(cuGraphExecUpdate(exec, next, &info));
    printf("result %d\n", info.result);
    CK(cuGraphDestroy(next));
    memset(pinned, 0, 512);
    CK(cuGraphLaunch(exec, s));
    SHOW(cuStreamSynchronize(s));
    printf("%d %d %d %d\n", pinned[0], pinned[63], pinned[64], pinned[127]);
    CK(cuGraphExecDestroy(exec));
}

static void by_hand(void) {
    static int one = 1, ten = 10;
    int n = 64, base = 7;
    void *args[] = {&x, &n, &base};
    CUDA_KERNEL_NODE_PARAMS k = {fill_index, 1, 1, 1, 64, 1, 1, 0, args, NULL, NULL, NULL}, back;
    CUDA_MEMSET_NODE_PARAMS m = {y, 0, 3, 4, 4, 1};
    CUDA_HOST_NODE_PARAMS h = {called_back, &one};
    CUDA_MEMCPY3D c = {0};
    CUgraphNode kernel, fill, host, copy, found, child;
    CUgraph graph, clone, outer, inner;
    CUgraphExec exec;
    CUevent done;
    size_t count = 0;
    int value;

    c.srcMemoryType = CU_MEMORYTYPE_DEVICE, c.srcDevice = x;
    c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = pinned;
    c.WidthInBytes = 8, c.Height = c.Depth = 1;
    CK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddKernelNode(&kernel, graph, NULL, 0, &k));
    CK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &m, context));
    CK(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &c, context));
    CUgraphNode both[] = {fill, copy};
    CK(cuGraphAddHostNode(&host, graph, both, 2, &h));
    CK(cuGraphAddEventRecordNode(&found, graph, &host, 1, done));
    base = 0;
    CK(cuGraphKernelNodeGetParams(kernel, &back));
    printf("function %d base %d\n", back.func == fill_index, *(int *)back.kernelParams[2]);
    CK(cuGraphClone(&clone, graph));
    CK(cuGraphNodeFindInClone(&found, kernel, clone));
    printf("found %d\n", found != kernel);
    CK(cuGraphNodeGetDependencies(host, NULL, NULL, &count));
    printf("dependencies %zu\n", count);
    CK(cuGraphCreate(&outer, 0));
    CK(cuGraphAddChildGraphNode(&child, outer, NULL, 0, clone));
    CK(cuGraphAddChildGraphNode(&child, outer, &child, 1, clone));
    CK(cuGraphChildGraphNodeGetGraph(child, &inner));
    CK(cuGraphGetNodes(inner, NULL, &count));
    printf("inside %zu\n", count);
    CK(cuGraphDestroy(clone));
    exec = exec_of(outer);
    memset(pinned, 0, 16);
    CK(cuGraphLaunch(exec, s));
    CK(cuStreamSynchronize(s));
    CK(cuMemcpyDtoH(&value, y, 4));
    printf("copied %d %d called %d value %d\n", pinned[0], pinned[1], called, value);
    CK(cuGraphExecDestroy(exec));

    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    base = 90;
    h.userData = &ten;
    c.dstHost = pinned + 2;
    m.value = 4;
    SHOW(cuGraphExecKernelNodeSetParams(exec, kernel, &k));
    SHOW(cuGraphExecHostNodeSetParams(exec, host, &h));
    SHOW(cuGraphExecMemcpyNodeSetParams(exec, copy, &c, context));
    SHOW(cuGraphExecMemsetNodeSetParams(exec, fill, &m, context));
    called = 0;
    CK(cuGraphLaunch(exec, s));
    SHOW(cuEventSynchronize(done));
    CK(cuStreamSynchronize(s));
    CK(cuMemcpyDtoH(&value, y, 4));
    printf("copied %d %d called %d value %d\n", pinned[2], pinned[3], called, value);
    SHOW(cuGraphNodeSetEnabled(exec, kernel, 0));
    CK(cuMemsetD32Async(x, 77, 2, s));
    CK(cuGraphLaunch(exec, s));
    CK(cuStreamSynchronize(s));
    printf("copied %d %d called %d\n", pinned[2], pinned[3], called);
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
    CK(cuEventDestroy(done));
}

/* A wrong end, and that a stream is as good as before after it. */
static void given_up(void) {
    CUstreamCaptureStatus status;
    CUgraph graph = NULL;
    int n = 64, base = 1;

    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch(fill_index, s, (void *[]){&x, &n, &base}, 64);
    SHOW(cuStreamSynchronize(s));
    SHOW(cuStreamIsCapturing(s, &status));
    printf("status %d\n", status);
    SHOW(cuStreamEndCapture(s, &graph));
    SHOW(cuStreamIsCapturing(s, &status));
    printf("status %d graph %d\n", status, graph != NULL);
    launch(fill_index, s, (void *[]){&x, &n, &base}, 64);
    SHOW(cuStreamSynchronize(s));
}

int main(void) {
    context = start();
    CUmodule m = module(ptx_basics);
    fill_index = function(m, "fill_index");
    chain = function(m, "chain");
    CK(cuMemAlloc(&x, 4096));
    CK(cuMemAlloc(&y, 4096));
    CK(cuMemAllocHost((void **)&pinned, 4096));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    printf("-- captured\n");
    replay();
    printf("-- by hand\n");
    by_hand();
    printf("-- given up\n");
    given_up();
    return 0;
}
