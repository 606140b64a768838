// SPDX-License-Identifier: Apache-2.0
/* Captures that fail: executables that there were before work on. */
#include "common.h"
#include "graphs.h"

static CUdeviceptr from, to;
static CUgraphExec exec;
static CUstream s;

static void build(void) {
    CUcontext context = start();
    CUDA_MEMCPY3D c;
    CUgraphNode copy;
    CUgraph graph;

    CK(cuMemAlloc(&from, 64));
    CK(cuMemAlloc(&to, 64));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CK(cuGraphCreate(&graph, 0));
    c = line(CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_DEVICE, from, 64);
    CK(cuGraphAddMemcpyNode(&copy, graph, NULL, 0, &c, context));
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
}

static void works(int value) {
    int got = 0;

    CK(cuMemsetD32Async(from, (unsigned int)value, 16, s));
    SHOW(cuGraphLaunch(exec, s));
    SHOW(cuStreamSynchronize(s));
    CK(cuMemcpyDtoH(&got, to, 4));
    printf("value %d\n", got);
}

int main(void) {
    CUgraph graph;

    build();
    works(1);
    printf("-- of a stream that captures nothing\n");
    SHOW(cuStreamEndCapture(s, &graph));
    works(2);
    printf("-- invalid before its end\n");
    SHOW(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SHOW(cuStreamSynchronize(s));
    SHOW(cuStreamEndCapture(s, &graph));
    works(3);
    SHOW(cuGraphExecDestroy(exec));
    return 0;
}
