// SPDX-License-Identifier: Apache-2.0
/* Graphs: when their memory is there, what edges and nodes keep, what is made of them changed. */
#include <stdatomic.h>

#include "check.h"

static CUstream stream;

static CUDA_KERNEL_NODE_PARAMS one_thread(const char *name) {
    return (CUDA_KERNEL_NODE_PARAMS){
        .func = function(name),
        .gridDimX = 1,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = 1,
        .blockDimY = 1,
        .blockDimZ = 1,
    };
}

/* A graph in which `store` writes to memory that the graph allocates. */
static CUgraph storing_graph(CUdeviceptr *memory, int *value, CUgraphNode *store) {
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}},
        .bytesize = 4,
    };
    CUDA_KERNEL_NODE_PARAMS kernel = one_thread("store");
    CUgraphNode node;
    CUgraph graph;

    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    *memory = alloc.dptr;
    kernel.kernelParams = (void *[]){memory, value};
    OK(cuGraphAddKernelNode(store, graph, &node, 1, &kernel));
    return graph;
}

static int word_at(CUdeviceptr p) {
    int value = -1;

    OK(cuMemcpyDtoH(&value, p, 4));
    return value;
}

static uint64_t memory_in_use(void) {
    uint64_t bytes = 77;

    OK(cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes));
    return bytes;
}

/* Memory that no node frees is there until the program frees it, and is not allocated twice. */
static void memory_stays_until_freed(void **state) {
    CUgraphNode store;
    CUdeviceptr p;
    int value = 5;
    CUgraph graph = storing_graph(&p, &value, &store);
    CUgraphExec exec;

    (void)state;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_int_equal(memory_in_use(), 0);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(word_at(p), 5);
    assert_true(memory_in_use() != 0);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, stream));
    OK(cuMemFreeAsync(p, stream));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(p, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemFree(p));
    assert_int_equal(memory_in_use(), 0);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    /* It outlives its graph, as memory like any other. */
    assert_int_equal(memory_in_use(), 0);
    assert_int_equal(word_at(p), 5);
    OK(cuMemFree(p));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
}

static void launches_may_free(void **state) {
    CUgraphNode store;
    CUdeviceptr p;
    int value = 6;
    CUgraph graph = storing_graph(&p, &value, &store);
    CUgraphExec exec;

    (void)state;
    OK(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuGraphLaunch(exec, NULL));
    assert_int_equal(word_at(p), 6);
    OK(cuMemFree(p));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* The stream's own memory becomes the graph's. */
static void captures_allocations(void **state) {
    CUdeviceptr p, plain;
    CUgraphExec exec;
    CUgraph graph;
    int *seen = new_gate();

    (void)state;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAllocAsync(&plain, 4, stream));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemAllocAsync(&p, 4, stream));
    OK(launch("store", 1, stream, (void *[]){&p, &(int){9}}));
    OK(cuMemcpyDtoHAsync(seen, p, 4, stream));
    OK(cuMemFreeAsync(p, stream));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(plain, stream));
    OK(cuStreamEndCapture(stream, &graph));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuGraphClone(&(CUgraph){0}, graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        *seen = 0;
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        assert_int_equal(*seen, 9);
    }
    assert_int_equal(memory_in_use(), 0);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuMemFree(plain));
}

/* Edges that permit an early begin are told with what they say, and go by it. */
static void edges_keep_their_data(void **state) {
    CUgraphEdgeData early = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                             .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
                    told[2];
    CUDA_KERNEL_NODE_PARAMS kernel = one_thread("give_up");
    CUgraphNode a, b, empty, from[2], to[2];
    CUgraph graph, clone;
    size_t n = 2;

    (void)state;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode(&a, graph, NULL, 0, &kernel));
    OK(cuGraphAddKernelNode(&b, graph, NULL, 0, &kernel));
    OK(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph, &empty, &b, &early, 1));
    OK(cuGraphAddDependencies(graph, &a, &b, &early, 1));
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphGetEdges(clone, from, to, told, &n));
    assert_int_equal(n, 1);
    assert_memory_equal(&told[0], &early, sizeof(early));
    n = 2;
    FAILS(CUDA_ERROR_LOSSY_QUERY, cuGraphGetEdges(graph, from, to, NULL, &n));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphRemoveDependencies(graph, &a, &b, NULL, 1));
    OK(cuGraphRemoveDependencies(graph, &a, &b, &early, 1));
    OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &n));
    assert_int_equal(n, 0);
    OK(cuGraphDestroy(clone));
    OK(cuGraphDestroy(graph));
}

/* What is set for a kernel's node stays when it gets other parameters, and is checked. */
static void nodes_keep_attributes(void **state) {
    CUlaunchAttributeValue v = {.cooperative = 1};
    CUdeviceptr p, q;
    int value = 1, other = 2;
    CUDA_KERNEL_NODE_PARAMS kernel = one_thread("store");
    CUgraphExec exec;
    CUgraphNode node;
    CUgraph graph;

    (void)state;
    OK(cuMemAlloc(&p, 4));
    OK(cuMemAlloc(&q, 4));
    OK(cuGraphCreate(&graph, 0));
    kernel.kernelParams = (void *[]){&p, &value};
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    kernel.kernelParams = (void *[]){&q, &other};
    OK(cuGraphKernelNodeSetParams(node, &kernel));
    v.cooperative = 0;
    OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    assert_int_equal(v.cooperative, 1);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    assert_int_equal(word_at(q), 2);
    kernel.gridDimX = 1000000;
    FAILS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, cuGraphKernelNodeSetParams(node, &kernel));
    FAILS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
          cuGraphExecKernelNodeSetParams(exec, node, &kernel));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static atomic_int ended;

static void end(void *data) {
    ended += *(int *)data;
}

/* A launch under way holds what its graph held. */
static void launches_hold_objects(void **state) {
    int one = 1, *gate = new_gate();
    CUDA_KERNEL_NODE_PARAMS kernel = one_thread("wait_for");
    CUuserObject object;
    CUgraphExec exec;
    CUgraphNode node;
    CUgraph graph;

    (void)state;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuUserObjectCreate(&object, &one, end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuGraphCreate(&graph, 0));
    kernel.kernelParams = (void *[]){&gate};
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphReleaseUserObject(graph, object, 2));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));
    sleep_ms(20);
    assert_int_equal(ended, 0);
    open_gate(gate);
    OK(cuStreamSynchronize(stream));
    for (int i = 0; i < 1000 && !ended; i++)
        sleep_ms(1);
    assert_int_equal(ended, 1);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 1));
}

/* Last, for it takes the device along: memory that is not allocated is not there for kernels. */
static void memory_is_not_there_before(void **state) {
    CUgraphNode store;
    CUdeviceptr p;
    int value = 5;

    (void)state;
    storing_graph(&p, &value, &store);
    OK(launch("store", 1, NULL, (void *[]){&p, &value}));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(memory_stays_until_freed),   TEST(launches_may_free),     TEST(captures_allocations),
        TEST(edges_keep_their_data),      TEST(nodes_keep_attributes), TEST(launches_hold_objects),
        TEST(memory_is_not_there_before),
    };

    return cmocka_run_group_tests_name("graph", tests, start, NULL);
}
