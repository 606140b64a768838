// SPDX-License-Identifier: Apache-2.0
/* What was made of a graph changed: single nodes, all of it, nodes switched off, attributes. */
#include "common.h"

KERNELS(basics);

static CUcontext context;
static CUfunction fill_index, chain;
static CUdeviceptr x, y;
static CUstream s;
static int *pinned, called;

static void called_back(void *arg) {
    called += *(int *)arg;
}

static int n64 = 64, base = 1;
static void *args[] = {&x, &n64, &base};
static CUDA_KERNEL_NODE_PARAMS kernel;

static int launch(CUgraphExec exec) {
    int value = -1;

    CK(cuGraphLaunch(exec, s));
    CK(cuStreamSynchronize(s));
    CK(cuMemcpyDtoH(&value, x, 4));
    return value;
}

static CUgraph make(CUgraphNode *k, CUgraphNode *m, int value) {
    CUDA_MEMSET_NODE_PARAMS fill = {y, 0, 3, 4, 4, 1};
    CUgraph graph;

    base = value;
    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddKernelNode(k, graph, NULL, 0, &kernel));
    CK(cuGraphAddMemsetNode(m, graph, k, 1, &fill, context));
    return graph;
}

static void single(void) {
    CUDA_MEMSET_NODE_PARAMS fill = {y, 0, 8, 4, 4, 1};
    CUgraphNode k, m, h, c, child;
    CUgraph graph = make(&k, &m, 1), inner;
    static int one = 1, two = 2;
    CUDA_HOST_NODE_PARAMS host = {called_back, &one};
    CUDA_MEMCPY3D copy = {0};
    CUgraphExec exec;
    int value;

    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = x;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = pinned;
    copy.WidthInBytes = 4, copy.Height = copy.Depth = 1;
    CK(cuGraphAddHostNode(&h, graph, &m, 1, &host));
    CK(cuGraphAddMemcpyNode(&c, graph, &h, 1, &copy, context));
    CK(cuGraphCreate(&inner, 0));
    CK(cuGraphAddMemsetNode(&child, inner, NULL, 0, &fill, context));
    CK(cuGraphAddChildGraphNode(&child, graph, &c, 1, inner));
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    printf("%d\n", launch(exec));
    base = 50;
    SHOW(cuGraphExecKernelNodeSetParams(exec, k, &kernel));
    printf("%d\n", launch(exec));
    fill.value = 11;
    SHOW(cuGraphExecMemsetNodeSetParams(exec, m, &fill, context));
    host.userData = &two;
    SHOW(cuGraphExecHostNodeSetParams(exec, h, &host));
    copy.dstHost = pinned + 1;
    SHOW(cuGraphExecMemcpyNodeSetParams(exec, c, &copy, context));
    SHOW(cuGraphExecChildGraphNodeSetParams(exec, child, inner));
    called = 0, pinned[1] = 0;
    launch(exec);
    CK(cuMemcpyDtoH(&value, y, 4));
    printf("called %d copied %d value %d\n", called, pinned[1], value);
    /* What may not change. */
    CUDA_KERNEL_NODE_PARAMS other = kernel;
    int rounds = 1;
    void *chain_args[] = {&x, &rounds};
    other.func = chain, other.kernelParams = chain_args;
    SHOW(cuGraphExecKernelNodeSetParams(exec, k, &other));
    fill.height = 2, fill.pitch = 64;
    SHOW(cuGraphExecMemsetNodeSetParams(exec, m, &fill, context));
    SHOW(cuGraphExecMemsetNodeSetParams(exec, k, &fill, context));
    SHOW(cuGraphExecKernelNodeSetParams(exec, k, NULL));
    SHOW(cuGraphExecKernelNodeSetParams(exec, NULL, &kernel));
    SHOW(cuGraphExecKernelNodeSetParams(NULL, k, &kernel));
    SHOW(cuGraphExecHostNodeSetParams(exec, k, &host));
    copy.WidthInBytes = 8;
    SHOW(cuGraphExecMemcpyNodeSetParams(exec, c, &copy, context));
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    memcpy(&any.kernel, &kernel, sizeof(kernel));
    base = 70;
    SHOW(cuGraphExecNodeSetParams(exec, k, &any));
    printf("%d\n", launch(exec));
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
    CK(cuGraphDestroy(inner));
}

static void whole(void) {
    CUgraphNode k, m, k2, m2, e;
    CUgraph graph = make(&k, &m, 1), next = make(&k2, &m2, 30), empty;
    CUgraphExecUpdateResultInfo info;
    CUgraphExec exec;

    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    printf("%d\n", launch(exec));
    memset(&info, 0x55, sizeof(info));
    SHOW(cuGraphExecUpdate(exec, next, &info));
    printf("result %d node %d from %d\n", info.result, info.errorNode != NULL,
           info.errorFromNode != NULL);
    printf("%d\n", launch(exec));
    CK(cuGraphAddEmptyNode(&e, next, &m2, 1));
    SHOW(cuGraphExecUpdate(exec, next, &info));
    printf("result %d\n", info.result);
    CK(cuGraphCreate(&empty, 0));
    SHOW(cuGraphExecUpdate(exec, empty, &info));
    printf("result %d\n", info.result);
    CK(cuGraphAddEmptyNode(&k2, empty, NULL, 0));
    CK(cuGraphAddEmptyNode(&m2, empty, &k2, 1));
    SHOW(cuGraphExecUpdate(exec, empty, &info));
    printf("result %d node %d\n", info.result, info.errorNode == k2 || info.errorNode == m2);
    SHOW(cuGraphExecUpdate(exec, graph, NULL));
    SHOW(cuGraphExecUpdate(NULL, graph, &info));
    SHOW(cuGraphExecUpdate(exec, NULL, &info));
    printf("%d\n", launch(exec));
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(empty));
    CK(cuGraphDestroy(graph));
    CK(cuGraphDestroy(next));
}

static void enabled(void) {
    CUgraphNode k, m, e;
    CUgraph graph = make(&k, &m, 5);
    unsigned int on = 9;
    CUgraphExec exec;

    CK(cuGraphAddEmptyNode(&e, graph, NULL, 0));
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    SHOW(cuGraphNodeGetEnabled(exec, k, &on));
    printf("on %u\n", on);
    SHOW(cuGraphNodeSetEnabled(exec, k, 0));
    SHOW(cuGraphNodeGetEnabled(exec, k, &on));
    printf("on %u\n", on);
    CK(cuMemsetD32(x, 99, 1));
    CK(cuCtxSynchronize());
    printf("%d\n", launch(exec));
    SHOW(cuGraphNodeSetEnabled(exec, k, 1));
    printf("%d\n", launch(exec));
    SHOW(cuGraphNodeSetEnabled(exec, e, 0));
    SHOW(cuGraphNodeGetEnabled(exec, k, NULL));
    SHOW(cuGraphNodeGetEnabled(NULL, k, &on));
    SHOW(cuGraphNodeSetEnabled(exec, NULL, 1));
    cuuint64_t flags = 77;
    SHOW(cuGraphExecGetFlags(exec, &flags));
    printf("flags %d\n", (int)flags);
    SHOW(cuGraphExecGetFlags(exec, NULL));
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
}

static void attributes(void) {
    CUkernelNodeAttrValue v;
    CUgraphNode k, m, k2, m2;
    CUgraph graph = make(&k, &m, 5), other = make(&k2, &m2, 5);

    memset(&v, 0, sizeof(v));
    SHOW(cuGraphKernelNodeGetAttribute(k, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    printf("%d\n", v.cooperative);
    SHOW(cuGraphKernelNodeGetAttribute(k, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v));
    printf("%d\n", v.priority);
    v.cooperative = 1;
    SHOW(cuGraphKernelNodeSetAttribute(k, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    v.cooperative = 0;
    SHOW(cuGraphKernelNodeGetAttribute(k, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    printf("%d\n", v.cooperative);
    SHOW(cuGraphKernelNodeCopyAttributes(k2, k));
    v.cooperative = 0;
    SHOW(cuGraphKernelNodeGetAttribute(k2, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    printf("%d\n", v.cooperative);
    SHOW(cuGraphKernelNodeGetAttribute(k, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &v));
    printf("%d %zu\n", v.accessPolicyWindow.base_ptr != NULL, v.accessPolicyWindow.num_bytes);
    SHOW(cuGraphKernelNodeGetAttribute(k, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &v));
    SHOW(cuGraphKernelNodeGetAttribute(k, 99, &v));
    SHOW(cuGraphKernelNodeGetAttribute(k, CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL));
    SHOW(cuGraphKernelNodeGetAttribute(m, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v));
    SHOW(cuGraphKernelNodeSetAttribute(k, 99, &v));
    SHOW(cuGraphKernelNodeSetAttribute(k, CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL));
    SHOW(cuGraphKernelNodeCopyAttributes(k, m));
    SHOW(cuGraphKernelNodeCopyAttributes(NULL, k));
    CK(cuGraphDestroy(graph));
    CK(cuGraphDestroy(other));
}

static void instantiation(void) {
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {0};
    CUgraphNode k, m;
    CUgraph graph = make(&k, &m, 6);
    CUgraphExec exec, exec2;

    SHOW(cuGraphInstantiateWithFlags(NULL, graph, 0));
    SHOW(cuGraphInstantiateWithFlags(&exec, NULL, 0));
    SHOW(cuGraphInstantiateWithFlags(&exec, graph, 1 << 20));
    p.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    p.hUploadStream = s;
    p.result_out = 99;
    SHOW(cuGraphInstantiateWithParams(&exec, graph, &p));
    printf("result %d node %d\n", p.result_out, p.hErrNode_out != NULL);
    SHOW(cuGraphInstantiateWithParams(&exec2, graph, NULL));
    printf("%d\n", launch(exec));
    SHOW(cuGraphInstantiateWithFlags(&exec2, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    CK(cuGraphLaunch(exec, s));
    CK(cuGraphLaunch(exec2, s));
    CK(cuGraphLaunch(exec, s));
    SHOW(cuStreamSynchronize(s));
    SHOW(cuGraphLaunch(exec, NULL));
    SHOW(cuGraphLaunch(NULL, s));
    SHOW(cuGraphUpload(NULL, s));
    SHOW(cuGraphExecDestroy(NULL));
    SHOW(cuCtxSynchronize());
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphExecDestroy(exec2));
    CK(cuGraphDestroy(graph));
}

int main(void) {
    context = start();
    CUmodule m = module(ptx_basics);
    fill_index = function(m, "fill_index");
    chain = function(m, "chain");
    kernel = (CUDA_KERNEL_NODE_PARAMS){fill_index, 1, 1, 1, 64, 1, 1, 0, args, NULL, NULL, NULL};
    CK(cuMemAlloc(&x, 4096));
    CK(cuMemAlloc(&y, 4096));
    CK(cuMemAllocHost((void **)&pinned, 4096));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    printf("-- single nodes\n");
    single();
    printf("-- the whole\n");
    whole();
    printf("-- enabled\n");
    enabled();
    printf("-- attributes\n");
    attributes();
    printf("-- instantiation\n");
    instantiation();
    return 0;
}
