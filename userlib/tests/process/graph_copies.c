// SPDX-License-Identifier: Apache-2.0
/*
 * usage: graph_copies CASE   One program of the tests in ./run whose graphs copy ordinary memory:
 * does what its case says, and exits with 0 if all calls gave what they must. Natively it must do
 * so, too.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "cases.h"
#include "common.h"

static CUcontext context;
static CUstream stream;

#define INTS ((size_t)3000)
#define PAGE 4096

static int one[INTS], two[INTS], three[INTS];

static CUgraphExec end_capture(CUgraph *graph) {
    CUgraphExec exec;

    CK(cuStreamEndCapture(stream, graph));
    CK(cuGraphInstantiateWithFlags(&exec, *graph, 0));
    return exec;
}

/* What a launch finds in `from`, it leaves in `to`. */
static void launches(CUgraphExec exec, int *from, int *to) {
    for (int round = 1; round < 4; round++) {
        for (size_t i = 0; i < INTS; i++)
            from[i] = round + (int)i;
        CK(cuGraphLaunch(exec, stream));
        CK(cuStreamSynchronize(stream));
        for (size_t i = 0; i < INTS; i++)
            EXPECT(to[i] == round + (int)i);
    }
}

/* One node writes what the next reads. */
static void chained(CUdeviceptr a, CUdeviceptr b) {
    CUgraphExec exec;
    CUgraph graph;

    CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuMemcpyHtoDAsync(a, one, sizeof(one), stream));
    CK(cuMemcpyDtoHAsync(two, a, sizeof(two), stream));
    CK(cuMemcpyHtoDAsync(b, two, sizeof(two) / 2, stream));
    CK(cuMemcpyHtoDAsync(b + sizeof(two) / 2, two + INTS / 2, sizeof(two) / 2, stream));
    CK(cuMemcpyDtoHAsync(three, b, sizeof(three), stream));
    exec = end_capture(&graph);
    launches(exec, one, three);
    launches(exec, one, two);
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
}

/* Another place for one of two nodes that share memory: the other's stays. */
static void changed(CUdeviceptr a, CUdeviceptr b) {
    CUDA_MEMCPY3D c;
    CUgraphNode nodes[2];
    CUgraphExec exec;
    CUgraph graph;
    size_t count = 2;

    CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuMemcpyDtoHAsync(two, a, sizeof(two), stream));
    CK(cuMemcpyHtoDAsync(b, two, sizeof(two), stream));
    exec = end_capture(&graph);
    CK(cuGraphGetNodes(graph, nodes, &count));
    for (int i = 0; i < 2; i++) {
        CK(cuGraphMemcpyNodeGetParams(nodes[i], &c));
        if (c.dstDevice == b || c.dstMemoryType == CU_MEMORYTYPE_DEVICE)
            continue;
        EXPECT(c.dstHost == two || c.dstDevice == (CUdeviceptr)two);
        c.dstMemoryType = CU_MEMORYTYPE_HOST;
        c.dstHost = three;
        CK(cuGraphExecMemcpyNodeSetParams(exec, nodes[i], &c, context));
    }
    CK(cuMemsetD32Async(a, 7, INTS, stream));
    for (size_t i = 0; i < INTS; i++)
        two[i] = (int)i;
    CK(cuGraphLaunch(exec, stream));
    CK(cuStreamSynchronize(stream));
    EXPECT(two[1] == 1 && three[1] == 7);
    CK(cuMemcpyDtoH(one, b, sizeof(one)));
    EXPECT(one[1] == 1 && one[INTS - 1] == INTS - 1);
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
}

static CUresult rows_within(void *dst, const void *src) {
    CUDA_MEMCPY2D c = {
        .dstMemoryType = CU_MEMORYTYPE_HOST,
        .dstHost = dst,
        .dstPitch = 1000,
        .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
        .srcDevice = (CUdeviceptr)src,
        .srcPitch = 1000,
        .WidthInBytes = 1000,
        .Height = sizeof(one) / 1000,
    };

    return cuMemcpy2DAsync(&c, stream);
}

/* No memory of the GPU's at all: still a node, and in its place. */
static void captured_on_host(CUdeviceptr a) {
    CUgraphNodeType type;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraph graph;
    size_t count = 1;

    CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuMemcpyAsync((CUdeviceptr)two, (CUdeviceptr)one, sizeof(one), stream));
    exec = end_capture(&graph);
    launches(exec, one, two);
    CK(cuGraphGetNodes(graph, &node, &count));
    CK(cuGraphNodeGetType(node, &type));
    EXPECT(type == CU_GRAPH_NODE_TYPE_MEMCPY);
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
    CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuMemcpyHtoDAsync(a, one, sizeof(one), stream));
    CK(cuMemcpyDtoHAsync(two, a, sizeof(two), stream));
    CK(rows_within(three, two));
    CK(cuMemcpyHtoDAsync(a, three, sizeof(three), stream));
    exec = end_capture(&graph);
    launches(exec, one, three);
    memset(three, 0, sizeof(three));
    CK(cuMemcpyDtoH(three, a, sizeof(three)));
    EXPECT(!memcmp(one, three, sizeof(one)));
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
}

/* The same of a node that is made as such. */
static void node_on_host(void) {
    CUDA_MEMCPY3D c = {
        .dstMemoryType = CU_MEMORYTYPE_HOST,
        .dstHost = two,
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = one,
        .WidthInBytes = sizeof(one),
        .Height = 1,
        .Depth = 1,
    };
    CUDA_MEMCPY3D got;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraph graph;

    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &c, context));
    CK(cuGraphMemcpyNodeGetParams(node, &got));
    EXPECT(got.srcHost == one && got.dstHost == two);
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    launches(exec, one, two);
    c.dstHost = three;
    CK(cuGraphExecMemcpyNodeSetParams(exec, node, &c, context));
    launches(exec, one, three);
    CK(cuGraphMemcpyNodeSetParams(node, &c));
    CK(cuGraphMemcpyNodeGetParams(node, &got));
    EXPECT(got.srcHost == one && got.dstHost == three);
    CK(cuGraphDestroyNode(node));
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
}

static int case_pageable(void) {
    CUdeviceptr a, b;

    context = start();
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CK(cuMemAlloc(&a, sizeof(one)));
    CK(cuMemAlloc(&b, sizeof(one)));
    chained(a, b);
    changed(a, b);
    captured_on_host(a);
    node_on_host();
    return 0;
}

static char page[PAGE];

/* A graph of one node, which brings a page of the device's there. */
static CUgraphExec copies_down(CUdeviceptr from, CUgraph *graph) {
    CUDA_MEMCPY3D c = {
        .dstMemoryType = CU_MEMORYTYPE_HOST,
        .dstHost = page,
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = from,
        .WidthInBytes = PAGE,
        .Height = 1,
        .Depth = 1,
    };
    CUgraphExec exec;
    CUgraphNode node;

    CK(cuGraphCreate(graph, 0));
    CK(cuGraphAddMemcpyNode(&node, *graph, NULL, 0, &c, context));
    CK(cuGraphInstantiateWithFlags(&exec, *graph, 0));
    return exec;
}

static bool page_is(char value) {
    return page[0] == value && page[PAGE - 1] == value;
}

static void *wait_again_and_again(void *done) {
    CUstream s;

    CK(cuCtxSetCurrent(context));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    while (!*(atomic_bool *)done)
        CK(cuStreamSynchronize(s));
    return NULL;
}

/* What an executable copies to the program is of its last launch, whoever else waits meanwhile. */
static int case_beside_waits(void) {
    enum { LAUNCHES = 300, WAITING = 2 };
    pthread_t threads[WAITING];
    atomic_bool over = false;
    CUgraphExec exec;
    CUdeviceptr from;
    CUgraph graph;

    context = start();
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CK(cuMemAlloc(&from, PAGE));
    exec = copies_down(from, &graph);
    for (int i = 0; i < WAITING; i++)
        EXPECT(!pthread_create(&threads[i], NULL, wait_again_and_again, &over));
    for (int i = 0; i < LAUNCHES; i++) {
        CK(cuMemsetD8Async(from, (unsigned char)i, PAGE, stream));
        CK(cuGraphLaunch(exec, stream));
        CK(cuStreamSynchronize(stream));
        EXPECT(page_is((char)i));
        if (i % 2) { /* it ends while others still ask */
            CK(cuGraphExecDestroy(exec));
            CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
        }
    }
    over = true;
    for (int i = 0; i < WAITING; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* An executable runs in one context after another, and its copy arrives when one of them ends. */
static int case_in_contexts(void) {
    CUgraphExec exec;
    CUdeviceptr from;
    CUcontext other;
    CUgraph graph;

    context = start();
    CK(cuMemAlloc(&from, PAGE));
    exec = copies_down(from, &graph);
    for (char i = 1; i < 5; i++) {
        CK(cuMemsetD8(from, (unsigned char)i, PAGE));
        CK(cuCtxSynchronize());
        CK(cuCtxCreate(&other, NULL, 0, 0));
        CK(cuGraphLaunch(exec, NULL));
        CK(cuCtxDestroy(other));
        EXPECT(page_is(i));
        CK(cuMemsetD8(from, (unsigned char)-i, PAGE));
        CK(cuGraphLaunch(exec, NULL));
        CK(cuStreamSynchronize(NULL));
        EXPECT(page_is((char)-i));
    }
    return 0;
}

static const struct process_case cases[] = {
    {"pageable", case_pageable},
    {"beside-waits", case_beside_waits},
    {"in-contexts", case_in_contexts},
    {0},
};

int main(int argc, char **argv) {
    return run_case(cases, argc, argv);
}
