// SPDX-License-Identifier: Apache-2.0
/* Graphs built by hand: every kind of node, its parameters as they come back, and what runs. */
#include "common.h"
#include "graphs.h"

KERNELS(basics);

static CUcontext context;
static CUfunction fill_index, chain, mixed_params;
static CUdeviceptr x, y;
static int *pinned;
static CUstream s;
static int called;

static void called_back(void *arg) {
    called += *(int *)arg;
}

static void kernels(void) {
    int n = 64, base = 5, rounds = 2;
    void *args[] = {&x, &n, &base}, *chain_args[] = {&x, &rounds};
    CUDA_KERNEL_NODE_PARAMS p = {fill_index, 1, 1, 1, 64, 1, 1, 0, args, NULL, NULL, NULL};
    CUDA_KERNEL_NODE_PARAMS back;
    CUgraphNode a, b, c;
    CUgraph graph;
    int value;

    SHOW(cuGraphCreate(&graph, 0));
    SHOW(cuGraphAddKernelNode(&a, graph, NULL, 0, &p));
    p.func = chain, p.blockDimX = 1, p.kernelParams = chain_args;
    SHOW(cuGraphAddKernelNode(&b, graph, &a, 1, &p));
    memset(&back, 0x55, sizeof(back));
    SHOW(cuGraphKernelNodeGetParams(a, &back));
    printf("func %d grid %u %u %u block %u %u %u shared %u extra %d kern %d ctx %d\n",
           back.func == fill_index, back.gridDimX, back.gridDimY, back.gridDimZ, back.blockDimX,
           back.blockDimY, back.blockDimZ, back.sharedMemBytes, back.extra != NULL,
           back.kern != NULL, back.ctx == context);
    printf("params %d\n", back.kernelParams != NULL);
    if (back.kernelParams)
        printf("%d %d %d\n", *(CUdeviceptr *)back.kernelParams[0] == x,
               *(int *)back.kernelParams[1], *(int *)back.kernelParams[2]);
    run_graph(graph, s);
    CK(cuMemcpyDtoH(&value, x, 4));
    printf("value %d\n", value);
    /* The packed form. */
    struct {
        CUdeviceptr out;
        int n, base;
    } packed = {x, 64, 40};
    size_t size = sizeof(packed);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CUDA_KERNEL_NODE_PARAMS q = {fill_index, 1, 1, 1, 64, 1, 1, 0, NULL, extra, NULL, NULL};
    SHOW(cuGraphAddKernelNode(&c, graph, &b, 1, &q));
    SHOW(cuGraphKernelNodeGetParams(c, &back));
    printf("params %d extra %d\n", back.kernelParams != NULL, back.extra != NULL);
    run_graph(graph, s);
    CK(cuMemcpyDtoH(&value, x, 4));
    printf("value %d\n", value);
    /* New parameters for one that is there. */
    packed.base = 60;
    SHOW(cuGraphKernelNodeSetParams(c, &q));
    p.func = fill_index, p.blockDimX = 32, p.kernelParams = args, base = 9;
    SHOW(cuGraphKernelNodeSetParams(a, &p));
    SHOW(cuGraphKernelNodeGetParams(a, &back));
    printf("block %u base %d\n", back.blockDimX,
           back.kernelParams ? *(int *)back.kernelParams[2] : -1);
    run_graph(graph, s);
    CK(cuMemcpyDtoH(&value, x, 4));
    printf("value %d\n", value);
    SHOW(cuGraphDestroy(graph));
}

static void wrong_kernels(void) {
    int n = 64, base = 5;
    void *args[] = {&x, &n, &base};
    CUDA_KERNEL_NODE_PARAMS good = {fill_index, 1, 1, 1, 64, 1, 1, 0, args, NULL, NULL, NULL}, p;
    CUgraphNode a, none = NULL;
    CUgraph graph, other;

    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphCreate(&other, 0));
    SHOW(cuGraphCreate(NULL, 0));
    SHOW(cuGraphCreate(&other, 1));
    SHOW(cuGraphAddKernelNode(NULL, graph, NULL, 0, &good));
    SHOW(cuGraphAddKernelNode(&a, NULL, NULL, 0, &good));
    SHOW(cuGraphAddKernelNode(&a, graph, NULL, 1, &good));
    SHOW(cuGraphAddKernelNode(&a, graph, &none, 1, &good));
    SHOW(cuGraphAddKernelNode(&a, graph, NULL, 0, NULL));
    p = good, p.func = NULL;
    SHOW(cuGraphAddKernelNode(&a, graph, NULL, 0, &p));
    p = good, p.gridDimX = 0;
    SHOW(cuGraphAddKernelNode(&a, graph, NULL, 0, &p));
    p = good, p.blockDimX = 2048;
    SHOW(cuGraphAddKernelNode(&a, graph, NULL, 0, &p));
    p = good, p.sharedMemBytes = 1 << 20;
    SHOW(cuGraphAddKernelNode(&a, graph, NULL, 0, &p));
    p = good, p.kernelParams = NULL;
    SHOW(cuGraphAddKernelNode(&a, graph, NULL, 0, &p));
    p = good, p.extra = (void *[]){CU_LAUNCH_PARAM_END};
    SHOW(cuGraphAddKernelNode(&a, graph, NULL, 0, &p));
    SHOW(cuGraphAddKernelNode(&a, graph, NULL, 0, &good));
    CUgraphNode twice[] = {a, a}, b;
    SHOW(cuGraphAddEmptyNode(&b, graph, twice, 2));
    SHOW(cuGraphAddEmptyNode(&b, other, &a, 1));
    SHOW(cuGraphKernelNodeGetParams(a, NULL));
    SHOW(cuGraphKernelNodeGetParams(NULL, &p));
    CUDA_MEMSET_NODE_PARAMS m;
    SHOW(cuGraphMemsetNodeGetParams(a, &m));
    SHOW(cuGraphKernelNodeSetParams(a, NULL));
    CK(cuGraphDestroy(graph));
    CK(cuGraphDestroy(other));
    SHOW(cuGraphDestroy(NULL));
}

static void fills_and_copies(void) {
    CUDA_MEMSET_NODE_PARAMS m = {x, 0, 0x01020304, 4, 16, 1}, m2 = {y, 64, 7, 1, 8, 4}, mb;
    CUDA_MEMCPY3D c = line(CU_MEMORYTYPE_HOST, (uint64_t)pinned, CU_MEMORYTYPE_DEVICE, x, 64), cb;
    CUgraphNode fill, fill2, copy, copy2, e;
    CUgraph graph;

    memset(pinned, 0, 4096);
    CK(cuMemsetD8(y, 0, 512));
    CK(cuCtxSynchronize()); /* the stream of the graphs waits for no other */
    CK(cuGraphCreate(&graph, 0));
    SHOW(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &m, context));
    SHOW(cuGraphAddMemsetNode(&fill2, graph, NULL, 0, &m2, context));
    SHOW(cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &c, context));
    c = line(CU_MEMORYTYPE_HOST, (uint64_t)pinned + 1024, CU_MEMORYTYPE_DEVICE, y, 256);
    SHOW(cuGraphAddMemcpyNode(&copy2, graph, &fill2, 1, &c, context));
    CUgraphNode both[] = {copy, copy2};
    SHOW(cuGraphAddEmptyNode(&e, graph, both, 2));
    SHOW(cuGraphMemsetNodeGetParams(fill2, &mb));
    printf("dst %d pitch %zu value %u element %u width %zu height %zu\n", mb.dst == y, mb.pitch,
           mb.value, mb.elementSize, mb.width, mb.height);
    SHOW(cuGraphMemcpyNodeGetParams(copy, &cb));
    printf("to %d %d from %d %d width %zu height %zu depth %zu pitch %zu %zu\n", cb.dstMemoryType,
           cb.dstHost == pinned, cb.srcMemoryType, cb.srcDevice == x, cb.WidthInBytes, cb.Height,
           cb.Depth, cb.srcPitch, cb.dstPitch);
    run_graph(graph, s);
    printf("%x %x %d\n", pinned[0], pinned[15], pinned[16]);
    for (int row = 0; row < 4; row++)
        printf("%x %x\n", pinned[256 + 16 * row], pinned[256 + 16 * row + 2]);
    /* From host to device, set anew. */
    pinned[0] = 77;
    c = line(CU_MEMORYTYPE_DEVICE, y, CU_MEMORYTYPE_HOST, (uint64_t)pinned, 4);
    SHOW(cuGraphMemcpyNodeSetParams(copy2, &c));
    m.value = 9;
    SHOW(cuGraphMemsetNodeSetParams(fill, &m));
    run_graph(graph, s);
    CK(cuMemcpyDtoH(&pinned[1], y, 4));
    printf("%d %d\n", pinned[0], pinned[1]);
    /* Wrong ones. */
    m.elementSize = 3;
    SHOW(cuGraphAddMemsetNode(&e, graph, NULL, 0, &m, context));
    m.elementSize = 4, m.width = 0;
    SHOW(cuGraphAddMemsetNode(&e, graph, NULL, 0, &m, context));
    m.width = 4, m.dst = 0;
    SHOW(cuGraphAddMemsetNode(&e, graph, NULL, 0, &m, context));
    m.dst = x;
    SHOW(cuGraphAddMemsetNode(&e, graph, NULL, 0, &m, NULL));
    SHOW(cuGraphAddMemsetNode(&e, graph, NULL, 0, NULL, context));
    SHOW(cuGraphAddMemcpyNode(&e, graph, NULL, 0, NULL, context));
    SHOW(cuGraphAddMemcpyNode(&e, graph, NULL, 0, &c, NULL));
    c.WidthInBytes = 0;
    SHOW(cuGraphAddMemcpyNode(&e, graph, NULL, 0, &c, context));
    c.WidthInBytes = 4, c.srcHost = NULL;
    SHOW(cuGraphAddMemcpyNode(&e, graph, NULL, 0, &c, context));
    SHOW(cuGraphMemcpyNodeGetParams(fill, &cb));
    CK(cuGraphDestroy(graph));
}

static void hosts_and_children(void) {
    static int one = 1, ten = 10;
    CUDA_HOST_NODE_PARAMS h = {called_back, &one}, hb;
    CUgraph inner, outer, embedded;
    CUgraphNode a, b, child, child2;
    CUDA_MEMSET_NODE_PARAMS m = {x, 0, 5, 4, 1, 1};
    size_t n = 0;
    int value;

    CK(cuGraphCreate(&inner, 0));
    CK(cuGraphCreate(&outer, 0));
    SHOW(cuGraphAddMemsetNode(&a, inner, NULL, 0, &m, context));
    SHOW(cuGraphAddHostNode(&b, inner, &a, 1, &h));
    SHOW(cuGraphHostNodeGetParams(b, &hb));
    printf("fn %d data %d\n", hb.fn == called_back, hb.userData == &one);
    SHOW(cuGraphAddChildGraphNode(&child, outer, NULL, 0, inner));
    SHOW(cuGraphAddChildGraphNode(&child2, outer, &child, 1, inner));
    SHOW(cuGraphChildGraphNodeGetGraph(child, &embedded));
    printf("a copy %d\n", embedded != inner);
    SHOW(cuGraphGetNodes(embedded, NULL, &n));
    printf("nodes %zu\n", n);
    SHOW(cuGraphDestroy(inner));
    run_graph(outer, s);
    CK(cuMemcpyDtoH(&value, x, 4));
    printf("called %d value %d\n", called, value);
    CUgraphNode nodes[2], found;
    n = 2;
    SHOW(cuGraphGetNodes(embedded, nodes, &n));
    CUgraphNodeType type;
    CK(cuGraphNodeGetType(nodes[1], &type));
    h.userData = &ten;
    SHOW(cuGraphHostNodeSetParams(nodes[type == CU_GRAPH_NODE_TYPE_HOST], &h));
    called = 0;
    run_graph(outer, s);
    printf("called %d\n", called);
    SHOW(cuGraphAddHostNode(&found, outer, NULL, 0, NULL));
    h.fn = NULL;
    SHOW(cuGraphAddHostNode(&found, outer, NULL, 0, &h));
    SHOW(cuGraphAddChildGraphNode(&found, outer, NULL, 0, NULL));
    SHOW(cuGraphChildGraphNodeGetGraph(nodes[0], &embedded));
    SHOW(cuGraphDestroy(outer));
}

static void events(void) {
    CUevent e, f, back;
    CUgraphNode record, wait;
    CUgraph graph;

    CK(cuEventCreate(&e, 0));
    CK(cuEventCreate(&f, 0));
    CK(cuGraphCreate(&graph, 0));
    SHOW(cuGraphAddEventRecordNode(&record, graph, NULL, 0, e));
    SHOW(cuGraphAddEventWaitNode(&wait, graph, &record, 1, f));
    SHOW(cuGraphEventRecordNodeGetEvent(record, &back));
    printf("the same %d\n", back == e);
    SHOW(cuGraphEventWaitNodeGetEvent(wait, &back));
    printf("the same %d\n", back == f);
    SHOW(cuGraphEventRecordNodeSetEvent(record, f));
    SHOW(cuGraphEventRecordNodeGetEvent(record, &back));
    printf("the same %d\n", back == f);
    SHOW(cuGraphEventWaitNodeSetEvent(wait, e));
    run_graph(graph, s);
    SHOW(cuEventQuery(f));
    SHOW(cuGraphEventWaitNodeGetEvent(record, &back));
    SHOW(cuGraphAddEventRecordNode(&record, graph, NULL, 0, NULL));
    CK(cuGraphDestroy(graph));
}

/* Every alignment that parameters have. */
static void mixed(void) {
    struct {
        char c;
        double d;
        short s[3];
    } m = {2, 0.5, {1, 2, 3}};
    char c = 1;
    short sh = 4;
    float f = 0.25f;
    void *args[] = {&c, &m, &sh, &x, &f};
    CUDA_KERNEL_NODE_PARAMS p = {mixed_params, 1, 1, 1, 1, 1, 1, 0, args, NULL, NULL, NULL}, back;
    CUgraphNode a;
    CUgraph graph;
    double out[3];

    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddKernelNode(&a, graph, NULL, 0, &p));
    CK(cuGraphKernelNodeGetParams(a, &back));
    if (back.kernelParams)
        printf("%d %d %g\n", *(char *)back.kernelParams[0], *(short *)back.kernelParams[2],
               *(float *)back.kernelParams[4]);
    run_graph(graph, s);
    CK(cuMemcpyDtoH(out, x, sizeof(out)));
    printf("%g %g %g\n", out[0], out[1], out[2]);
    CK(cuGraphDestroy(graph));
}

int main(void) {
    context = start();
    CUmodule m = module(ptx_basics);
    fill_index = function(m, "fill_index");
    chain = function(m, "chain");
    mixed_params = function(m, "mixed_params");
    CK(cuMemAlloc(&x, 4096));
    CK(cuMemAlloc(&y, 4096));
    CK(cuMemAllocHost((void **)&pinned, 4096));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    printf("-- kernels\n");
    kernels();
    printf("-- wrong kernels\n");
    wrong_kernels();
    printf("-- fills and copies\n");
    fills_and_copies();
    printf("-- host functions and graphs within graphs\n");
    hosts_and_children();
    printf("-- events\n");
    events();
    printf("-- mixed parameters\n");
    mixed();
    return 0;
}
