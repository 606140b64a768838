// SPDX-License-Identifier: Apache-2.0
/* Graphs by hand: nodes of each kind, edges, updates of what runs. */
#include "common.cuh"

__global__ void add(int *v, int x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        v[i] += x;
}

static int host_calls;

static void CUDART_CB count(void *data) {
    host_calls += (int)(intptr_t)data;
}

static cudaKernelNodeParams kernel(void **args, int blocks) {
    cudaKernelNodeParams p = {};

    p.func = (void *)add;
    p.gridDim = dim3(blocks);
    p.blockDim = dim3(256);
    p.kernelParams = args;
    return p;
}

int main() {
    const int n = 1024;
    int *d, x = 5, y = 100, length = n, host[4] = {};
    void *args[] = {&d, &x, &length}, *args2[] = {&d, &y, &length};
    cudaGraph_t graph, child;
    cudaGraphNode_t clear, first, second, empty, call, down, sub, nodes[16];
    cudaGraphExec_t exec;
    cudaGraphNodeType type;
    cudaStream_t s;
    size_t count_nodes, edges;
    cudaGraphExecUpdateResultInfo update;
    cudaKernelNodeParams got;

    CK(cudaMalloc(&d, n * sizeof(int)));
    CK(cudaStreamCreate(&s));
    SHOW(cudaGraphCreate(&graph, 0));
    SHOW(cudaGraphCreate(&graph, 1));
    SHOW(cudaGraphCreate(nullptr, 0));
    CK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams set = {};
    set.dst = d;
    set.elementSize = 4;
    set.width = n;
    set.height = 1;
    set.value = 1;
    SHOW(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &set));
    cudaKernelNodeParams p = kernel(args, n / 256);
    SHOW(cudaGraphAddKernelNode(&first, graph, &clear, 1, &p));
    SHOW(cudaGraphAddKernelNode(&second, graph, nullptr, 0, &p));
    SHOW(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
    SHOW(cudaGraphAddEmptyNode(&empty, graph, &second, 1));
    cudaHostNodeParams h = {count, (void *)1};
    SHOW(cudaGraphAddHostNode(&call, graph, &empty, 1, &h));
    SHOW(cudaGraphAddMemcpyNode1D(&down, graph, &empty, 1, host, d + n - 4, sizeof(host),
                                  cudaMemcpyDeviceToHost));
    SHOW(cudaGraphGetNodes(graph, nullptr, &count_nodes));
    SHOW(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    printf("nodes %zu edges %zu\n", count_nodes, edges);
    count_nodes = 16;
    SHOW(cudaGraphNodeGetDependencies(second, nodes, nullptr, &count_nodes));
    printf("dependencies %zu the first %d\n", count_nodes, nodes[0] == first);
    for (cudaGraphNode_t node : {clear, first, empty, call, down}) {
        SHOW(cudaGraphNodeGetType(node, &type));
        printf("type %d\n", type);
    }
    SHOW(cudaGraphKernelNodeGetParams(first, &got));
    printf("grid %u block %u x %d\n", got.gridDim.x, got.blockDim.x, *(int *)got.kernelParams[1]);
    SHOW(cudaGraphInstantiate(&exec, graph, 0));
    SHOW(cudaGraphLaunch(exec, s));
    SHOW(cudaStreamSynchronize(s));
    printf("result %d calls %d\n", host[3], host_calls);

    // The graph that runs gets other parameters; the graph itself keeps its own.
    p = kernel(args2, n / 256);
    SHOW(cudaGraphExecKernelNodeSetParams(exec, first, &p));
    set.value = 7;
    SHOW(cudaGraphExecMemsetNodeSetParams(exec, clear, &set));
    h.userData = (void *)10;
    SHOW(cudaGraphExecHostNodeSetParams(exec, call, &h));
    SHOW(cudaGraphLaunch(exec, s));
    SHOW(cudaStreamSynchronize(s));
    printf("result %d calls %d\n", host[3], host_calls);
    SHOW(cudaGraphExecUpdate(exec, graph, &update));
    printf("update %d\n", update.result);
    SHOW(cudaGraphLaunch(exec, s));
    SHOW(cudaStreamSynchronize(s));
    printf("result %d calls %d\n", host[3], host_calls);

    // A child graph; one node less; a graph that does not fit.
    CK(cudaGraphCreate(&child, 0));
    CK(cudaGraphAddKernelNode(&first, child, nullptr, 0, &p));
    SHOW(cudaGraphAddChildGraphNode(&sub, graph, &down, 1, child));
    SHOW(cudaGraphExecUpdate(exec, graph, &update));
    printf("update %d\n", update.result);
    SHOW(cudaGetLastError());
    SHOW(cudaGraphExecDestroy(exec));
    SHOW(cudaGraphDestroyNode(call));
    SHOW(cudaGraphInstantiate(&exec, graph, 0));
    SHOW(cudaGraphLaunch(exec, s));
    SHOW(cudaStreamSynchronize(s));
    printf("result %d then %d calls %d\n", host[3], from_device(d, n)[n - 1], host_calls);
    SHOW(cudaGraphExecDestroy(exec));
    // A circle cannot be instantiated.
    SHOW(cudaGraphAddDependencies(graph, &down, &clear, nullptr, 1));
    SHOW(cudaGraphInstantiate(&exec, graph, 0));
    SHOW(cudaGetLastError());
    SHOW(cudaGraphDestroy(child));
    SHOW(cudaGraphDestroy(graph));
    return 0;
}
