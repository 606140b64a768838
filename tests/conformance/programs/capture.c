// SPDX-License-Identifier: Apache-2.0
/* Stream capture: what becomes of calls in a capturing stream, and what is made of it. */
#include "common.h"

KERNELS(basics);

static CUfunction fill_index, chain;
static CUdeviceptr x, y;
static int *pinned;

/* Types and edges of a graph, by the place of each node in the graph's own list. */
static void describe(CUgraph graph) {
    CUgraphNode nodes[32], from[64], to[64];
    CUgraphEdgeData data[64];
    size_t n = 32, edges = 64, roots = 32;
    CUgraphNode root[32];

    CK(cuGraphGetNodes(graph, nodes, &n));
    CK(cuGraphGetRootNodes(graph, root, &roots));
    CK(cuGraphGetEdges(graph, from, to, data, &edges));
    printf("nodes %zu roots %zu edges %zu types", n, roots, edges);
    for (size_t i = 0; i < n; i++) {
        CUgraphNodeType type;

        CK(cuGraphNodeGetType(nodes[i], &type));
        printf(" %d", type);
    }
    printf("\n");
    for (size_t e = 0; e < edges; e++) {
        int a = -1, b = -1;

        for (size_t i = 0; i < n; i++) {
            if (nodes[i] == from[e])
                a = (int)i;
            if (nodes[i] == to[e])
                b = (int)i;
        }
        printf("known edge %d\n", a >= 0 && b >= 0 && a != b);
    }
}

static void launch(CUfunction f, CUstream s, CUdeviceptr address, int n, int base) {
    void *args[] = {&address, &n, &base};

    CK(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, s, args, NULL));
}

static void info(const char *what, CUstream s) {
    CUstreamCaptureStatus status = 77;
    const CUgraphEdgeData *edges = NULL;
    const CUgraphNode *deps = NULL;
    cuuint64_t id = 0;
    CUgraph graph = NULL;
    size_t n = 99;
    CUresult r = cuStreamGetCaptureInfo(s, &status, &id, &graph, &deps, &edges, &n);

    printf("%s: %d status %d id %d graph %d deps %zu\n", what, r, status, id != 0, graph != NULL,
           n);
    for (size_t i = 0; status == CU_STREAM_CAPTURE_STATUS_ACTIVE && i < n; i++) {
        CUgraphNodeType type;

        CK(cuGraphNodeGetType(deps[i], &type));
        printf("  type %d\n", type);
    }
}

static void line(CUstream s) {
    CUstreamCaptureStatus status;
    CUgraph graph, same;
    CUgraphExec exec;
    int first[4];

    info("before", s);
    SHOW(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SHOW(cuStreamIsCapturing(s, &status));
    printf("status %d\n", status);
    info("empty", s);
    launch(fill_index, s, x, 64, 100);
    info("a kernel", s);
    SHOW(cuMemcpyDtoDAsync(y, x, 256, s));
    SHOW(cuMemsetD32Async(y, 7, 1, s));
    SHOW(cuMemsetD8Async(y + 4, 1, 4, s));
    SHOW(cuMemcpyDtoHAsync(pinned, y, 256, s));
    info("all", s);
    CK(cuStreamGetCaptureInfo(s, &status, NULL, &same, NULL, NULL, NULL));
    pinned[0] = -1;
    SHOW(cuStreamEndCapture(s, &graph));
    printf("the same graph %d\n", graph == same);
    info("after", s);
    describe(graph);
    printf("not run yet %d\n", pinned[0]);
    SHOW(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        memset(pinned, 0, 256);
        CK(cuMemsetD32(y, 0, 64));
        CK(cuGraphLaunch(exec, s));
        CK(cuStreamSynchronize(s));
        memcpy(first, pinned, sizeof(first));
        printf("%d %x %d %d\n", first[0], first[1], first[2], first[3]);
    }
    SHOW(cuGraphDestroy(graph));
    SHOW(cuGraphLaunch(exec, s));
    SHOW(cuGraphLaunch(exec, s));
    SHOW(cuStreamSynchronize(s));
    SHOW(cuGraphUpload(exec, s));
    SHOW(cuGraphExecDestroy(exec));
    SHOW(cuStreamSynchronize(s));
}

/* Work of a second stream belongs to the capture once it waits for an event of the first. */
static void forked(CUstream s, CUstream other) {
    CUevent fork, join;
    CUgraphExec exec;
    CUgraph graph;
    int rounds = 3;
    void *args[] = {&x, &rounds};

    CK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    CK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch(fill_index, s, x, 64, 1);
    SHOW(cuEventRecord(fork, s));
    info("other before", other);
    SHOW(cuStreamWaitEvent(other, fork, 0));
    info("other after", other);
    CK(cuLaunchKernel(chain, 1, 1, 1, 1, 1, 1, 0, other, args, NULL));
    launch(fill_index, s, y, 64, 5);
    SHOW(cuEventRecord(join, other));
    SHOW(cuStreamWaitEvent(s, join, 0));
    info("joined", s);
    SHOW(cuMemcpyDtoHAsync(pinned, x, 4, s));
    SHOW(cuMemcpyDtoHAsync(pinned + 1, y, 4, s));
    SHOW(cuStreamEndCapture(s, &graph));
    info("other ended", other);
    describe(graph);
    SHOW(
        cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    CK(cuGraphLaunch(exec, s));
    CK(cuStreamSynchronize(s));
    printf("%d %d\n", pinned[0], pinned[1]);
    SHOW(cuEventQuery(fork));
    SHOW(cuEventRecord(fork, s));
    SHOW(cuEventSynchronize(fork));
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
    CK(cuEventDestroy(fork));
    CK(cuEventDestroy(join));
}

static void dependencies(CUstream s) {
    CUstreamCaptureStatus status;
    const CUgraphNode *deps;
    CUgraphNode first, second;
    CUgraph graph, given;
    size_t n;

    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch(fill_index, s, x, 64, 1);
    CK(cuStreamGetCaptureInfo_v2(s, &status, NULL, &graph, &deps, &n));
    first = deps[0];
    launch(fill_index, s, y, 64, 1);
    CK(cuStreamGetCaptureInfo_v2(s, &status, NULL, &graph, &deps, &n));
    second = deps[0];
    printf("two nodes %d\n", first != second);
    SHOW(cuStreamUpdateCaptureDependencies(s, &first, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    info("both", s);
    SHOW(cuStreamUpdateCaptureDependencies(s, &first, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    info("first", s);
    CK(cuStreamGetCaptureInfo_v2(s, &status, NULL, &graph, &deps, &n));
    printf("the first %d\n", deps[0] == first);
    SHOW(cuStreamUpdateCaptureDependencies(s, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    info("none", s);
    SHOW(cuStreamUpdateCaptureDependencies(s, NULL, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    SHOW(cuStreamUpdateCaptureDependencies(s, &first, NULL, 1, 9));
    SHOW(cuMemsetD32Async(x, 1, 4, s));
    SHOW(cuStreamUpdateCaptureDependencies_v2(s, &second, NULL, 1, 0));
    SHOW(cuStreamEndCapture(s, &graph));
    describe(graph);

    /* The nodes of another capture come behind this one's. */
    SHOW(cuStreamBeginCaptureToGraph(s, graph, &second, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    info("to graph", s);
    launch(fill_index, s, x, 64, 1);
    SHOW(cuStreamEndCapture(s, &given));
    printf("the same graph %d\n", given == graph);
    describe(graph);
    SHOW(cuStreamBeginCaptureToGraph(s, graph, NULL, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SHOW(cuStreamBeginCaptureToGraph(s, graph, NULL, NULL, 0, 5));
    CK(cuGraphDestroy(graph));
}

static void wrong(CUstream s, CUstream other) {
    CUstreamCaptureStatus status;
    CUevent event;
    CUgraph graph;
    CUgraphExec exec;
    cuuint64_t id;

    CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    SHOW(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SHOW(cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_RELAXED));
    SHOW(cuStreamBeginCapture(s, 3));
    SHOW(cuStreamBeginCapture(s, -1));
    SHOW(cuStreamEndCapture(s, &graph));
    SHOW(cuStreamEndCapture(NULL, &graph));
    SHOW(cuStreamIsCapturing(s, NULL));
    SHOW(cuStreamIsCapturing(NULL, &status));
    SHOW(cuStreamGetCaptureInfo(s, NULL, NULL, NULL, NULL, NULL, NULL));
    SHOW(cuStreamUpdateCaptureDependencies(s, NULL, NULL, 0, 0));
    SHOW(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    SHOW(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    SHOW(cuStreamIsCapturing(s, &status));
    printf("status %d\n", status);
    SHOW(cuStreamEndCapture(s, NULL));
    SHOW(cuStreamIsCapturing(s, &status));
    printf("status %d\n", status);
    SHOW(cuStreamEndCapture(s, &graph));
    printf("status %d\n", status);
    SHOW(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* an empty graph */
    SHOW(cuGraphLaunch(exec, s));
    SHOW(cuGraphExecDestroy(exec));
    SHOW(cuGraphDestroy(graph));
    /* A branch that does not come back. */
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch(fill_index, s, x, 64, 1);
    CK(cuEventRecord(event, s));
    CK(cuStreamWaitEvent(other, event, 0));
    launch(fill_index, other, y, 64, 1);
    SHOW(cuStreamEndCapture(other, &graph));
    info("after wrong end", s);
    graph = (CUgraph)8;
    SHOW(cuStreamEndCapture(s, &graph));
    printf("graph %p\n", (void *)graph);
    info("after unjoined", s);
    info("other", other);
    /* The stream itself is asked. */
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch(fill_index, s, x, 64, 1);
    SHOW(cuStreamSynchronize(s));
    info("after synchronise", s);
    SHOW(cuLaunchKernel(fill_index, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&x, &(int){1}, &(int){1}},
                        NULL));
    graph = (CUgraph)8;
    SHOW(cuStreamEndCapture(s, &graph));
    printf("graph %p\n", (void *)graph);
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    SHOW(cuStreamQuery(s));
    SHOW(cuStreamEndCapture(s, &graph));
    /* An event of the capture, asked from outside. */
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    CK(cuEventRecord(event, s));
    SHOW(cuEventQuery(event));
    SHOW(cuEventSynchronize(event));
    info("after event", s);
    SHOW(cuStreamEndCapture(s, &graph));
    /* An event from before the capture. */
    CK(cuEventRecord(event, other));
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    SHOW(cuStreamWaitEvent(s, event, 0));
    SHOW(cuStreamEndCapture(s, &graph));
    /* Two captures may not meet. */
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    CK(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_RELAXED));
    CK(cuEventRecord(event, s));
    SHOW(cuStreamWaitEvent(other, event, 0));
    SHOW(cuStreamEndCapture(s, &graph));
    SHOW(cuStreamEndCapture(other, &graph));
    /* A launch that is wrong. */
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    SHOW(cuLaunchKernel(fill_index, 0, 1, 1, 1, 1, 1, 0, s, (void *[]){&x, &(int){1}, &(int){1}},
                        NULL));
    info("after a wrong launch", s);
    SHOW(cuStreamEndCapture(s, &graph));
    SHOW(cuStreamGetCaptureInfo_v2(s, &status, &id, NULL, NULL, NULL));
    /* A stream that ends while it is captured. */
    CUstream gone;
    CK(cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING));
    CK(cuStreamBeginCapture(gone, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch(fill_index, gone, x, 64, 1);
    SHOW(cuStreamDestroy(gone));
    SHOW(cuCtxSynchronize());
}

/* The default stream while a stream that it waits for is captured, and one that it does not. */
static void legacy(unsigned int flags) {
    CUstreamCaptureStatus status = 77;
    CUgraph graph;
    CUstream s;
    int value;

    printf("-- legacy stream, flags %u\n", flags);
    CK(cuStreamCreate(&s, flags));
    for (int i = 0; i < 8; i++) {
        CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
        switch (i) {
        case 0:
            SHOW(cuStreamIsCapturing(NULL, &status));
            break;
        case 1:
            SHOW(cuStreamQuery(NULL));
            break;
        case 2:
            SHOW(cuStreamSynchronize(NULL));
            break;
        case 3:
            SHOW(cuMemsetD32Async(y, 1, 1, NULL));
            break;
        case 4:
            SHOW(cuMemcpyDtoH(&value, x, 4));
            break;
        case 5:
            SHOW(cuMemcpyHtoD(x, &value, 4));
            break;
        case 6:
            SHOW(cuLaunchKernel(fill_index, 1, 1, 1, 1, 1, 1, 0, NULL,
                                (void *[]){&x, &(int){1}, &(int){1}}, NULL));
            break;
        default:
            SHOW(cuCtxSynchronize());
        }
        SHOW(cuStreamEndCapture(s, &graph));
    }
    CK(cuStreamDestroy(s));
}

int main(void) {
    CUstream s, other;

    start();
    CUmodule m = module(ptx_basics);
    fill_index = function(m, "fill_index");
    chain = function(m, "chain");
    CK(cuMemAlloc(&x, 4096));
    CK(cuMemAlloc(&y, 4096));
    CK(cuMemAllocHost((void **)&pinned, 4096));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    printf("-- one stream\n");
    line(s);
    printf("-- the thread's own default stream\n");
    line(CU_STREAM_PER_THREAD);
    printf("-- two streams\n");
    forked(s, other);
    printf("-- dependencies\n");
    dependencies(s);
    printf("-- wrong\n");
    wrong(s, other);
    legacy(CU_STREAM_DEFAULT);
    legacy(CU_STREAM_NON_BLOCKING);
    return 0;
}
