// SPDX-License-Identifier: Apache-2.0
/*
 * usage: graph_meets CASE   One program of the tests in ./run: ordinary memory that a graph copies,
 * and what else has to do with it: other nodes, other graphs, host functions, nodes that are
 * changed, switched off, refused. It does what its case says, and exits with 0 if all calls gave
 * what they must. Natively it must do so, too.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "cases.h"
#include "common.h"

#define INTS 1000
#define BYTES ((size_t)4 * INTS)

static CUcontext context;
static CUstream stream;
static CUdeviceptr a, b; /* of the device: 1 and 2, at first */
static int h[INTS], k[INTS], out[INTS];

static void prepare(void) {
    context = start();
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CK(cuMemAlloc(&a, BYTES));
    CK(cuMemAlloc(&b, BYTES));
    CK(cuMemsetD32(a, 1, INTS));
    CK(cuMemsetD32(b, 2, INTS));
    CK(cuCtxSynchronize());
}

static CUDA_MEMCPY3D down(void *to, CUdeviceptr from, size_t bytes) {
    return (CUDA_MEMCPY3D){
        .dstMemoryType = CU_MEMORYTYPE_HOST,
        .dstHost = to,
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = from,
        .WidthInBytes = bytes,
        .Height = 1,
        .Depth = 1,
    };
}

static CUDA_MEMCPY3D up(CUdeviceptr to, const void *from, size_t bytes) {
    return (CUDA_MEMCPY3D){
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = to,
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = from,
        .WidthInBytes = bytes,
        .Height = 1,
        .Depth = 1,
    };
}

/* A node, after that one if there is one. */
static CUgraphNode add(CUgraph graph, CUgraphNode after, CUDA_MEMCPY3D c) {
    CUgraphNode node;

    CK(cuGraphAddMemcpyNode(&node, graph, &after, after ? 1 : 0, &c, context));
    return node;
}

static CUgraph graph_of(CUDA_MEMCPY3D c, CUgraphNode *node) {
    CUgraph graph;

    CK(cuGraphCreate(&graph, 0));
    *node = add(graph, NULL, c);
    return graph;
}

static CUgraphExec made_of(CUgraph graph) {
    CUgraphExec exec;

    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static void run(CUgraphExec exec) {
    CK(cuGraphLaunch(exec, stream));
    CK(cuStreamSynchronize(stream));
}

static void fill(int *memory, int value) {
    for (int i = 0; i < INTS; i++)
        memory[i] = value;
}

static bool are(const int *memory, int from, int to, int value) {
    for (int i = from; i < to; i++) {
        if (memory[i] != value)
            return false;
    }
    return true;
}

static bool is(const int *memory, int value) {
    return are(memory, 0, INTS, value);
}

static bool device_is(CUdeviceptr memory, int value) {
    static int got[INTS];

    CK(cuMemcpyDtoH(got, memory, BYTES));
    return is(got, value);
}

/* Pieces that overlap in part. */
static void pieces(void) {
    CUgraphNode node;
    CUgraph graph = graph_of(down(h, a, BYTES / 2), &node);

    node = add(graph, node, up(b, h + INTS / 4, BYTES / 2));
    add(graph, node, down(h + INTS / 2, b, BYTES / 4));
    fill(h, 3);
    run(made_of(graph));
    EXPECT(are(h, 0, 3 * INTS / 4, 1) && are(h, 3 * INTS / 4, INTS, 3));
    CK(cuMemcpyDtoH(out, b, BYTES));
    EXPECT(are(out, 0, INTS / 4, 1) && are(out, INTS / 4, INTS / 2, 3));
}

/* The same piece twice, of which another node has a part. */
static void twice(void) {
    CUgraphNode node;
    CUgraph graph = graph_of(down(h, b, BYTES / 2), &node);

    CK(cuMemsetD32(b, 2, INTS));
    CK(cuCtxSynchronize());
    node = add(graph, node, down(h, a, BYTES / 2));
    node = add(graph, node, up(b, h + INTS / 4, BYTES / 2));
    add(graph, node, down(h + INTS / 2, b, BYTES / 4));
    fill(h, 3);
    run(made_of(graph));
    EXPECT(are(h, 0, 3 * INTS / 4, 1) && are(h, 3 * INTS / 4, INTS, 3));
}

/* Pieces that overlap, captured. */
static void captured_pieces(void) {
    CUgraph graph;

    CK(cuMemsetD32(b, 2, INTS));
    CK(cuCtxSynchronize());
    CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuMemcpyDtoHAsync(h, a, BYTES / 2, stream));
    CK(cuMemcpyHtoDAsync(b, h + INTS / 4, BYTES / 2, stream));
    CK(cuStreamEndCapture(stream, &graph));
    fill(h, 3);
    run(made_of(graph));
    EXPECT(are(h, 0, INTS / 2, 1) && are(h, INTS / 2, INTS, 3));
    CK(cuMemcpyDtoH(out, b, BYTES));
    EXPECT(are(out, 0, INTS / 4, 1) && are(out, INTS / 4, INTS / 2, 3));
}

/* Rows with gaps between them. */
static void rows(void) {
    CUDA_MEMCPY3D to = down(h, a, 40), from = up(b, h, 40);
    CUgraphNode node;
    CUgraph graph;

    to.dstPitch = from.srcPitch = 80;
    to.srcPitch = from.dstPitch = 40;
    to.Height = from.Height = 20;
    graph = graph_of(to, &node);
    add(graph, node, from);
    CK(cuMemsetD32(b, 2, INTS));
    CK(cuCtxSynchronize());
    fill(h, 3);
    run(made_of(graph));
    for (int i = 0; i < 400; i++)
        EXPECT(h[i] == (i / 10 % 2 ? 3 : 1));
    CK(cuMemcpyDtoH(out, b, BYTES));
    EXPECT(are(out, 0, 200, 1) && are(out, 200, INTS, 2));
}

/* A graph in the graph has the same memory, and was there first or came later. */
static void in_a_child(bool first) {
    CUgraph graph, child = NULL;
    CUgraphNode node, ignored;

    if (first)
        child = graph_of(up(b, h, BYTES), &ignored);
    graph = graph_of(down(h, a, BYTES), &node);
    if (!first)
        child = graph_of(up(b, h, BYTES), &ignored);
    CK(cuGraphAddChildGraphNode(&ignored, graph, &node, 1, child));
    CK(cuMemsetD32(b, 2, INTS));
    CK(cuCtxSynchronize());
    fill(h, 3);
    run(made_of(graph));
    EXPECT(is(h, 1) && device_is(b, 1));
}

static int case_overlaps(void) {
    prepare();
    pieces();
    twice();
    captured_pieces();
    rows();
    in_a_child(true);
    in_a_child(false);
    return 0;
}

/* Executables in one stream: one writes what the other reads, or both write the same. */
static int case_across(void) {
    CUgraphExec first, reads, writes;
    CUgraphNode node;

    prepare();
    first = made_of(graph_of(down(h, a, BYTES), &node));
    reads = made_of(graph_of(up(b, h, BYTES), &node));
    writes = made_of(graph_of(down(h, b, BYTES), &node));
    for (int round = 0; round < 20; round++) {
        fill(h, 9);
        CK(cuMemsetD32Async(b, 2, INTS, stream));
        CK(cuGraphLaunch(first, stream));
        CK(cuGraphLaunch(writes, stream));
        CK(cuStreamSynchronize(stream));
        EXPECT(is(h, 2));
        fill(h, 9);
        CK(cuGraphLaunch(first, stream));
        CK(cuGraphLaunch(reads, stream));
        CK(cuStreamSynchronize(stream));
        EXPECT(is(h, 1) && device_is(b, 1));
    }
    return 0;
}

static void CUDA_CB ten_more(void *unused) {
    (void)unused;
    for (int i = 0; i < INTS; i++)
        k[i] = h[i] + 10;
}

static void CUDA_CB takes(void *unused) {
    (void)unused;
    memcpy(k, h, BYTES);
    fill(h, -1);
}

/* A function between two copies, and one behind them, which changes what it was given. */
static int case_functions(void) {
    CUgraphExec between, only;
    CUgraphNode node;
    CUgraph graph;

    prepare();
    CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuMemcpyDtoHAsync(h, a, BYTES, stream));
    CK(cuLaunchHostFunc(stream, ten_more, NULL));
    CK(cuMemcpyHtoDAsync(b, k, BYTES, stream));
    CK(cuStreamEndCapture(stream, &graph));
    between = made_of(graph);
    only = made_of(graph_of(down(h, a, BYTES), &node));
    for (int round = 0; round < 5; round++) {
        fill(h, 9);
        fill(k, 8);
        CK(cuMemsetD32Async(a, (unsigned int)round, INTS, stream));
        run(between);
        EXPECT(is(h, round) && is(k, round + 10) && device_is(b, round + 10));
        fill(h, 9);
        CK(cuGraphLaunch(only, stream));
        CK(cuLaunchHostFunc(stream, takes, NULL));
        CK(cuStreamSynchronize(stream));
        EXPECT(is(k, round) && is(h, -1));
    }
    return 0;
}

static atomic_int told;

static void CUDA_CB tell(void *unused) {
    (void)unused;
    told++;
}

/* The program learns from a function that a launch is done, and unmaps its memory. */
static int case_unmapped(void) {
    CUstream other;

    prepare();
    CK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    for (int round = 0; round < 20; round++) {
        int *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CUgraphNode node;
        CUgraph graph = graph_of(round % 2 ? up(b, memory, BYTES) : down(memory, a, BYTES), &node);
        CUgraphExec exec = made_of(graph);

        EXPECT(memory != MAP_FAILED);
        CK(cuGraphLaunch(exec, stream));
        CK(cuLaunchHostFunc(stream, tell, NULL));
        while (told <= 2 * round)
            usleep(10);
        EXPECT(is(memory, round % 2 ? 0 : 1));
        munmap(memory, BYTES);
        CK(cuLaunchHostFunc(other, tell, NULL));
        CK(cuStreamSynchronize(other));
        CK(cuStreamSynchronize(stream));
        CK(cuGraphExecDestroy(exec));
        CK(cuGraphDestroy(graph));
    }
    return 0;
}

/* What is refused changes nothing: neither what would have been written, nor what is read. */
static int case_refused(void) {
    CUDA_MEMCPY3D bad;
    CUgraphNode node, elsewhere, none;
    CUgraphExec exec;
    CUgraph graph;

    prepare();
    graph = graph_of(up(b, k, BYTES), &node);
    graph_of(up(b, k, BYTES), &elsewhere);
    bad = down(h, a, BYTES);
    EXPECT(cuGraphAddMemcpyNode(&none, graph, &elsewhere, 1, &bad, context) ==
           CUDA_ERROR_INVALID_VALUE);
    exec = made_of(graph);
    fill(h, 9);
    fill(k, 5);
    run(exec);
    EXPECT(is(h, 9) && device_is(b, 5));
    bad = up(16, k, BYTES);
    EXPECT(cuGraphExecMemcpyNodeSetParams(exec, node, &bad, context) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphMemcpyNodeSetParams(node, &bad) == CUDA_ERROR_INVALID_VALUE);
    fill(k, 6);
    run(exec);
    EXPECT(device_is(b, 6));
    fill(k, 7);
    run(made_of(graph));
    EXPECT(device_is(b, 7));
    return 0;
}

static int case_switched_off(void) {
    CUgraphExec exec;
    CUgraphNode node;

    prepare();
    exec = made_of(graph_of(down(h, a, BYTES), &node));
    for (unsigned int on = 0; on < 4; on++) {
        fill(h, 9);
        CK(cuGraphNodeSetEnabled(exec, node, on % 2));
        run(exec);
        EXPECT(is(h, on % 2 ? 1 : 9));
    }
    return 0;
}

/* Another graph in the place of a child's, in what was made; and the child's node destroyed. */
static int case_children(void) {
    CUgraph graph, child, other, inner;
    CUDA_MEMCPY3D c;
    CUgraphNode node, ignored;
    CUgraphExec exec;

    prepare();
    child = graph_of(up(b, h, BYTES), &ignored);
    other = graph_of(up(b, k, BYTES), &ignored);
    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    exec = made_of(graph);
    fill(h, 3);
    fill(k, 4);
    run(exec);
    EXPECT(device_is(b, 3));
    CK(cuGraphExecChildGraphNodeSetParams(exec, node, other));
    CK(cuGraphDestroy(other));
    run(exec);
    EXPECT(device_is(b, 4));
    fill(k, 5);
    run(exec);
    EXPECT(device_is(b, 5));
    /* What is added to a graph in a graph is the outer one's as well. */
    CK(cuGraphChildGraphNodeGetGraph(node, &inner));
    ignored = add(inner, NULL, down(out, a, BYTES));
    run(made_of(graph));
    EXPECT(is(out, 1));
    c = down(k, a, BYTES);
    CK(cuGraphMemcpyNodeSetParams(ignored, &c));
    fill(out, 9);
    run(made_of(graph));
    EXPECT(is(out, 9) && is(k, 1));
    CK(cuGraphDestroyNode(node));
    fill(k, 9);
    run(made_of(graph));
    EXPECT(is(k, 9));
    return 0;
}

/* A node's place in its graph, then in what had been made of that before; and in a copy. */
static int case_places(void) {
    CUDA_MEMCPY3D to_k, to_out;
    CUgraphExec before, copied;
    CUgraph graph, clone;
    CUgraphNode node;
    size_t one = 1;

    prepare();
    to_k = down(k, a, BYTES);
    to_out = down(out, a, BYTES);
    CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuMemcpyDtoHAsync(h, a, BYTES, stream));
    CK(cuStreamEndCapture(stream, &graph));
    before = made_of(graph);
    CK(cuGraphGetNodes(graph, &node, &one));
    CK(cuGraphMemcpyNodeSetParams(node, &to_k));
    CK(cuGraphExecMemcpyNodeSetParams(before, node, &to_out, context));
    fill(h, 9);
    fill(k, 9);
    run(before);
    EXPECT(is(h, 9) && is(k, 9) && is(out, 1));
    CK(cuGraphClone(&clone, graph));
    copied = made_of(clone);
    CK(cuGraphNodeFindInClone(&node, node, clone));
    CK(cuGraphMemcpyNodeSetParams(node, &to_out));
    fill(out, 9);
    run(made_of(clone));
    EXPECT(is(h, 9) && is(k, 9) && is(out, 1));
    to_k.dstHost = h;
    CK(cuGraphExecMemcpyNodeSetParams(copied, node, &to_k, context));
    fill(out, 9);
    run(copied);
    EXPECT(is(h, 1) && is(k, 9) && is(out, 9));
    return 0;
}

static const struct process_case cases[] = {
    {"overlaps", case_overlaps}, {"across", case_across},   {"functions", case_functions},
    {"unmapped", case_unmapped}, {"refused", case_refused}, {"switched-off", case_switched_off},
    {"children", case_children}, {"places", case_places},   {0},
};

int main(int argc, char **argv) {
    return run_case(cases, argc, argv);
}
