// SPDX-License-Identifier: Apache-2.0
/* Memory that stays the program's: a capture refuses to free it, or a graph allocates it again. */
#include "common.h"

static CUstream s;

static void show(const char *what, CUdeviceptr p) {
    unsigned int value = 0;

    CK(cuMemsetD32Async(p, 7, 16, s));
    CK(cuMemcpyDtoHAsync(&value, p, 4, s));
    CK(cuStreamSynchronize(s));
    printf("%s %u\n", what, value);
}

/* What a graph did not allocate cannot be freed by one. */
static void refused(void) {
    CUdeviceptr p;
    CUgraph graph;
    size_t size = 0;

    CK(cuMemAlloc(&p, 4096));
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    printf("refused %d\n", cuMemFreeAsync(p, s) != CUDA_SUCCESS);
    if (cuStreamEndCapture(s, &graph) == CUDA_SUCCESS)
        CK(cuGraphDestroy(graph));
    SHOW(cuMemGetAddressRange(NULL, &size, p));
    printf("size %zu\n", size);
    show("value", p);
    SHOW(cuMemFree(p));
}

static CUgraphExec instance(CUgraph graph) {
    CUgraphExec exec;

    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static int is_device(CUdeviceptr p) {
    unsigned int type = 0;

    return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE;
}

/* Each launch allocates it anew, at the address that it had: the program frees it in between. */
static void launched_again(CUgraph graph, CUdeviceptr p) {
    CUgraphExec exec = instance(graph);
    unsigned int value = 0;
    CUdeviceptr other;

    CK(cuMemAlloc(&other, 64));
    for (int i = 0; i < 3; i++) {
        SHOW(cuGraphLaunch(exec, s));
        show("value", p);
        printf("of the device %d\n", is_device(p));
        SHOW(cuMemcpy(other, p, 64));
        CK(cuMemcpyDtoH(&value, other, 4));
        printf("copied %u\n", value);
        if (i == 1) {
            SHOW(cuMemFree(p));
        } else {
            SHOW(cuMemFreeAsync(p, s));
        }
        SHOW(cuStreamSynchronize(s));
    }
    CK(cuMemFree(other));
    CK(cuGraphExecDestroy(exec));
}

static void of_a_node(void) {
    CUDA_MEM_ALLOC_NODE_PARAMS p = {.bytesize = 4096};
    CUgraphNode node;
    CUgraph graph;

    p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CK(cuGraphCreate(&graph, 0));
    CK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &p));
    launched_again(graph, p.dptr);
    CK(cuGraphDestroy(graph));
}

static void captured(void) {
    CUdeviceptr p;
    CUgraph graph;

    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuMemAllocAsync(&p, 4096, s));
    CK(cuStreamEndCapture(s, &graph));
    launched_again(graph, p);
    CK(cuGraphDestroy(graph));
}

int main(void) {
    start();
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    printf("-- a free that a capture refuses\n");
    refused();
    printf("-- memory of a node\n");
    of_a_node();
    printf("-- memory allocated in a capture\n");
    captured();
    return 0;
}
