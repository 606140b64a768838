// SPDX-License-Identifier: Apache-2.0
/*
 * usage: graphs CASE   One program of the tests in ./run that makes graphs, by hand and by capture:
 * does what its case says, and exits with 0 if all calls gave what they must.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "cases.h"
#include "common.h"

static CUcontext context;
static CUstream stream;

static void prepare(void) {
    context = start();
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

/* More edges in one call than a record holds. */
enum { MANY = 10000 };
static CUgraphNode nodes[MANY], ends[MANY];

static CUgraphNode add_empty(CUgraph graph) {
    CUgraphNode node;

    CK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    return node;
}

static size_t dependencies(CUgraphNode node) {
    size_t count = 0;

    CK(cuGraphNodeGetDependencies_v2(node, NULL, NULL, &count));
    return count;
}

static size_t nodes_of(CUgraph graph) {
    size_t count;

    CK(cuGraphGetNodes(graph, NULL, &count));
    return count;
}

static size_t edges_of(CUgraph graph) {
    size_t count;

    CK(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &count));
    return count;
}

static void many_by_hand(void) {
    CUgraphNode node, elsewhere;
    CUgraph graph, other;

    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphCreate(&other, 0));
    elsewhere = add_empty(other);
    for (int i = 0; i < MANY; i++)
        nodes[i] = add_empty(graph);
    CK(cuGraphAddEmptyNode(&node, graph, nodes, MANY));
    EXPECT(dependencies(node) == MANY);
    node = add_empty(graph);
    for (int i = 0; i < MANY; i++)
        ends[i] = node;
    CK(cuGraphAddDependencies_v2(graph, nodes, ends, NULL, MANY));
    EXPECT(dependencies(node) == MANY);
    CK(cuGraphRemoveDependencies_v2(graph, nodes, ends, NULL, MANY));
    EXPECT(dependencies(node) == 0);
    /* One that is wrong, and there is no node. */
    nodes[MANY - 1] = elsewhere;
    EXPECT(cuGraphAddEmptyNode(&node, graph, nodes, MANY) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(nodes_of(graph) == MANY + 2);
}

static void many_captured(void) {
    CUstreamCaptureStatus status;
    CUdeviceptr device;
    CUgraph graph;
    cuuint64_t id;

    CK(cuMemAlloc(&device, 16));
    CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuStreamGetCaptureInfo_v3(stream, &status, &id, &graph, NULL, NULL, NULL));
    for (int i = 0; i < MANY; i++)
        nodes[i] = add_empty(graph);
    CK(cuStreamUpdateCaptureDependencies_v2(stream, nodes, NULL, MANY,
                                            CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    CK(cuMemsetD8Async(device, 1, 16, stream));
    CK(cuStreamEndCapture(stream, &graph));
    EXPECT(edges_of(graph) == MANY);
    CK(cuStreamBeginCaptureToGraph(stream, graph, nodes, NULL, MANY,
                                   CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuMemsetD8Async(device, 2, 16, stream));
    CK(cuStreamEndCapture(stream, &graph));
    EXPECT(edges_of(graph) == 2 * (size_t)MANY);
}

static int case_many_edges(void) {
    prepare();
    many_by_hand();
    many_captured();
    return 0;
}

/* Prints a graph again and again: always the same text. */
static void *print(void *graph) {
    char path[] = "/tmp/vcuda-graph-XXXXXX";
    int fd = mkstemp(path);
    struct stat first = {0}, now;

    EXPECT(fd >= 0);
    CK(cuCtxSetCurrent(context));
    for (int i = 0; i < 60; i++) {
        CK(cuGraphDebugDotPrint(graph, path, 0));
        EXPECT(!stat(path, &now));
        if (!i)
            first = now;
        EXPECT(now.st_size && now.st_size == first.st_size);
    }
    close(fd);
    unlink(path);
    return NULL;
}

static int case_two_print(void) {
    pthread_t threads[2];

    prepare();
    for (int i = 0; i < 2; i++) {
        CUgraph graph;

        CK(cuGraphCreate(&graph, 0));
        for (int n = 0; n < 3000 * (i + 1); n++)
            add_empty(graph);
        EXPECT(!pthread_create(&threads[i], NULL, print, graph));
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* Pages of the program: mapped, or (resident) in memory. */
static long pages(bool resident) {
    FILE *file = fopen("/proc/self/statm", "r");
    long mapped = 0, in_memory = 0;

    EXPECT(file && fscanf(file, "%ld %ld", &mapped, &in_memory) == 2);
    fclose(file);
    return resident ? in_memory : mapped;
}

static char memory[1 << 20];

/* Captures that come to nothing leave nothing behind. */
static int case_captures_fail(void) {
    enum { ROUNDS = 600 };
    CUdeviceptr device;
    long before = 0;
    CUgraph graph;
    CUstream s;

    prepare();
    CK(cuMemAlloc(&device, sizeof(memory)));
    for (int i = 0; i < ROUNDS; i++) {
        CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
        CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
        CK(cuMemcpyHtoDAsync(device, memory, sizeof(memory), s));
        if (i % 2) {
            EXPECT(cuStreamQuery(s) != CUDA_SUCCESS);
            EXPECT(cuStreamEndCapture(s, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        }
        CK(cuStreamDestroy(s)); /* and the capture with it */
        if (i == ROUNDS / 4)
            before = pages(false);
    }
    EXPECT(pages(false) - before < ROUNDS / 2 * (long)sizeof(memory) / getpagesize());
    return 0;
}

/* What is remembered of a graph in a graph ends with it. */
static int case_children_end(void) {
    enum { ROUNDS = 8000, PARTS = 4 };
    CUDA_MEMCPY3D c = {
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = memory,
        .WidthInBytes = 16,
        .Height = 1,
        .Depth = 1,
    };
    CUgraph graph, child, inner;
    CUgraphNode node, ignored;
    size_t one = 1;
    long before = 0;

    prepare();
    CK(cuMemAlloc(&c.dstDevice, 16));
    CK(cuGraphCreate(&child, 0));
    CK(cuGraphAddMemcpyNode(&ignored, child, NULL, 0, &c, context));
    for (int i = 0; i < ROUNDS; i++) {
        CK(cuGraphCreate(&graph, 0));
        CK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
        CK(cuGraphChildGraphNodeGetGraph(node, &inner));
        CK(cuGraphGetNodes(inner, &node, &one));
        CK(cuGraphMemcpyNodeSetParams(node, &c));
        CK(cuGraphDestroy(graph));
        if (i == ROUNDS / PARTS)
            before = pages(true);
    }
    EXPECT((pages(true) - before) * getpagesize() < ROUNDS / PARTS * (PARTS - 1) * 200L);
    return 0;
}

static void *captures(void *over) {
    CUgraph graph;
    CUstream s;

    CK(cuCtxSetCurrent(context));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    while (!*(atomic_bool *)over) {
        if (cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS &&
            cuStreamEndCapture(s, &graph) == CUDA_SUCCESS)
            cuGraphDestroy(graph);
    }
    return NULL;
}

/* What no capture allows ends each of them, also while others begin and end. */
static int case_all_forbid(void) {
    CUstreamCaptureStatus status;
    atomic_bool over = false;
    CUdeviceptr none;
    pthread_t other;
    CUgraph graph;

    prepare();
    EXPECT(!pthread_create(&other, NULL, captures, &over));
    for (int i = 0; i < 500; i++) {
        CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        usleep((unsigned int)i % 50);
        EXPECT(cuMemAlloc(&none, 10) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        CK(cuStreamIsCapturing(stream, &status));
        EXPECT(status == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        EXPECT(cuStreamEndCapture(stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    over = true;
    pthread_join(other, NULL);
    return 0;
}

/* A launch that goes wrong is told by the next call that tells such, by one, and by one only. */
static int case_errors_told(void) {
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = 4096,
    };
    CUgraphNode node, ignored;
    CUgraph graph, other;
    CUgraphExec exec;
    CUstream s;
    int errors;

    prepare();
    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    CK(cuGraphAddMemFreeNode(&ignored, graph, &node, 1, alloc.dptr));
    CK(cuGraphDestroyNode(node)); /* so that what it frees was never there */
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CK(cuMemAlloc(&alloc.dptr, 16));
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    CK(cuMemcpyHtoDAsync(alloc.dptr, memory, 16, s));
    CK(cuStreamEndCapture(s, &other));
    CK(cuGraphGetNodes(other, &node, &(size_t){1}));
    errors = cuGraphLaunch(exec, stream) != CUDA_SUCCESS;
    errors += cuGraphDestroyNode(node) != CUDA_SUCCESS;
    errors += cuStreamSynchronize(stream) != CUDA_SUCCESS;
    EXPECT(errors == 1);
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    CK(cuMemcpyHtoDAsync(alloc.dptr, memory, 16, s));
    errors = cuGraphLaunch(exec, stream) != CUDA_SUCCESS;
    errors += cuStreamDestroy(s) != CUDA_SUCCESS;
    errors += cuStreamSynchronize(stream) != CUDA_SUCCESS;
    EXPECT(errors == 1);
    return 0;
}

static const struct process_case cases[] = {
    {"many-edges", case_many_edges},
    {"two-print", case_two_print},
    {"captures-fail", case_captures_fail},
    {"children-end", case_children_end},
    {"all-forbid", case_all_forbid},
    {"errors-told", case_errors_told},
    {0},
};

int main(int argc, char **argv) {
    return run_case(cases, argc, argv);
}
