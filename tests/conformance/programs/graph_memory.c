// SPDX-License-Identifier: Apache-2.0
/* Graphs built by hand: memory of graphs, and the call that adds nodes of any kind. */
#include "common.h"
#include "graphs.h"

KERNELS(basics);

static CUcontext context;
static CUfunction fill_index;
static CUdeviceptr x;
static int *pinned;
static CUstream s;

static void memory(void) {
    CUDA_MEM_ALLOC_NODE_PARAMS p = {0}, back;
    CUDA_MEMSET_NODE_PARAMS m = {0, 0, 6, 4, 16, 1};
    CUDA_MEMCPY3D c;
    CUgraphNode alloc, fill, copy, release;
    CUdeviceptr address;
    CUgraph graph, clone;

    p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.bytesize = 1000;
    CK(cuGraphCreate(&graph, 0));
    SHOW(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    printf("address %d\n", p.dptr != 0);
    m.dst = p.dptr;
    SHOW(cuGraphAddMemsetNode(&fill, graph, &alloc, 1, &m, context));
    c = line(CU_MEMORYTYPE_HOST, (uint64_t)pinned, CU_MEMORYTYPE_DEVICE, p.dptr, 64);
    SHOW(cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &c, context));
    SHOW(cuGraphAddMemFreeNode(&release, graph, &copy, 1, p.dptr));
    SHOW(cuGraphMemAllocNodeGetParams(alloc, &back));
    printf("bytes %zu the same %d type %d place %d %d access %zu\n", back.bytesize,
           back.dptr == p.dptr, back.poolProps.allocType, back.poolProps.location.type,
           back.poolProps.location.id, back.accessDescCount);
    SHOW(cuGraphMemFreeNodeGetParams(release, &address));
    printf("the same %d\n", address == p.dptr);
    pinned[3] = 0;
    run_graph(graph, s);
    printf("%d\n", pinned[3]);
    SHOW(cuGraphClone(&clone, graph));
    SHOW(cuGraphAddMemFreeNode(&release, graph, &copy, 1, p.dptr));
    p.bytesize = 0;
    SHOW(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    SHOW(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, NULL));
    CK(cuGraphDestroy(graph));
}

static void any_kind(void) {
    int n = 64, base = 21;
    void *args[] = {&x, &n, &base};
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_KERNEL},
                      e = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    CUgraphEdgeData edge = {0};
    CUgraphNode a, b, c;
    CUgraph graph;
    int value;

    p.kernel.func = fill_index;
    p.kernel.gridDimX = p.kernel.gridDimY = p.kernel.gridDimZ = 1;
    p.kernel.blockDimX = 64, p.kernel.blockDimY = p.kernel.blockDimZ = 1;
    p.kernel.kernelParams = args;
    CK(cuGraphCreate(&graph, 0));
    SHOW(cuGraphAddNode(&a, graph, NULL, NULL, 0, &p));
    SHOW(cuGraphAddNode(&b, graph, &a, &edge, 1, &e));
    edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    SHOW(cuGraphAddNode(&c, graph, &a, &edge, 1, &p));
    SHOW(cuGraphAddNode(&c, graph, &b, &edge, 1, &p));
    base = 22;
    SHOW(cuGraphNodeSetParams(a, &p));
    SHOW(cuGraphNodeSetParams(a, &e));
    SHOW(cuGraphAddNode(&c, graph, NULL, NULL, 0, NULL));
    e.type = 99;
    SHOW(cuGraphAddNode(&c, graph, NULL, NULL, 0, &e));
    e.type = CU_GRAPH_NODE_TYPE_EMPTY, e.reserved2 = 1;
    SHOW(cuGraphAddNode(&c, graph, NULL, NULL, 0, &e));
    run_graph(graph, s);
    CK(cuMemcpyDtoH(&value, x, 4));
    printf("value %d\n", value);
    CK(cuGraphDestroy(graph));
}

int main(void) {
    context = start();
    fill_index = function(module(ptx_basics), "fill_index");
    CK(cuMemAlloc(&x, 4096));
    CK(cuMemAllocHost((void **)&pinned, 4096));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    printf("-- memory\n");
    memory();
    printf("-- any kind\n");
    any_kind();
    return 0;
}
