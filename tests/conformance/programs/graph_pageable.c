// SPDX-License-Identifier: Apache-2.0
/* Ordinary memory in graphs: a node reads and writes it when it runs, not when it is made. */
#include <pthread.h>

#include "common.h"
#include "release.h"

static CUcontext context;
static CUdeviceptr x;
static CUstream s;
static int in[8192], out[8192], box[16][16];

static void captured(size_t ints) {
    CUgraphExec exec;
    CUgraph graph;

    memset(out, 0, sizeof(out));
    for (size_t i = 0; i < ints; i++)
        in[i] = (int)i;
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuMemcpyHtoDAsync(x, in, 4 * ints, s));
    CK(cuMemcpyDtoHAsync(out, x, 4 * ints, s));
    CK(cuStreamEndCapture(s, &graph));
    printf("%zu: before %d %d\n", ints, out[1], out[ints - 1]);
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CK(cuGraphDestroy(graph));
    for (int round = 1; round < 4; round++) {
        for (size_t i = 0; i < ints; i++)
            in[i] = (int)i * round;
        CK(cuGraphLaunch(exec, s));
        CK(cuStreamSynchronize(s));
        printf("round %d: %d %d\n", round, out[1], out[ints - 1]);
    }
    CK(cuGraphExecDestroy(exec));
}

static void nodes(void) {
    CUDA_MEMCPY3D up = {0}, down = {0}, back;
    CUgraphNode a, b;
    CUgraphExec exec, second;
    CUgraph graph, clone;
    CUevent done;
    int result = 0, other = 0;

    up.srcMemoryType = CU_MEMORYTYPE_HOST, up.srcHost = box, up.srcPitch = sizeof(box[0]);
    up.srcXInBytes = 8, up.srcY = 1;
    up.dstMemoryType = CU_MEMORYTYPE_DEVICE, up.dstDevice = x;
    up.WidthInBytes = 8, up.Height = 3, up.Depth = 1;
    down.srcMemoryType = CU_MEMORYTYPE_DEVICE, down.srcDevice = x + 16;
    down.dstMemoryType = CU_MEMORYTYPE_HOST, down.dstHost = &result;
    down.WidthInBytes = 4, down.Height = down.Depth = 1;
    for (int y = 0; y < 16; y++)
        for (int i = 0; i < 16; i++)
            box[y][i] = 100 * y + i;
    CK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    CK(cuGraphCreate(&graph, 0));
    SHOW(cuGraphAddMemcpyNode(&a, graph, NULL, 0, &up, context));
    SHOW(cuGraphAddMemcpyNode(&b, graph, &a, 1, &down, context));
    SHOW(cuGraphMemcpyNodeGetParams(a, &back));
    printf("from %d x %zu y %zu pitch %zu\n", back.srcHost == box, back.srcXInBytes, back.srcY,
           back.srcPitch);
    SHOW(cuGraphMemcpyNodeGetParams(b, &back));
    printf("to %d\n", back.dstHost == &result);
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CK(cuGraphLaunch(exec, s));
    CK(cuStreamSynchronize(s));
    printf("%d\n", result);
    box[3][2] = 5;
    CK(cuGraphLaunch(exec, s));
    CK(cuEventRecord(done, s));
    SHOW(cuEventSynchronize(done));
    printf("%d\n", result);
    /* Another place in what was made, and in the graph. */
    down.dstHost = &other;
    SHOW(cuGraphExecMemcpyNodeSetParams(exec, b, &down, context));
    box[3][2] = 6;
    CK(cuGraphLaunch(exec, s));
    CK(cuCtxSynchronize());
    printf("%d %d\n", result, other);
    SHOW(cuGraphMemcpyNodeSetParams(b, &down));
    SHOW(cuGraphClone(&clone, graph));
    CK(cuGraphInstantiateWithFlags(&second, clone, 0));
    CK(cuGraphDestroy(graph));
    CK(cuGraphDestroy(clone));
    box[3][2] = 7;
    result = 0;
    CK(cuGraphLaunch(second, s));
    CK(cuStreamSynchronize(s));
    printf("%d %d\n", result, other);
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphExecDestroy(second));
    CK(cuEventDestroy(done));
}

/* ---- changed while a launch is under way: that one does what it was ---- */

static CUgraph copy_down(int *to, int ints) {
    CUgraph graph;

    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(cuMemcpyDtoHAsync(to, x, 4 * (size_t)ints, s));
    CK(cuStreamEndCapture(s, &graph));
    return graph;
}

static void set_node(CUgraphExec exec, CUgraph graph, int *to, int ints) {
    CUDA_MEMCPY3D c = {0};
    CUgraphNode node;
    size_t count = 1;

    c.srcMemoryType = CU_MEMORYTYPE_DEVICE, c.srcDevice = x;
    c.dstMemoryType = CU_MEMORYTYPE_HOST, c.dstHost = to;
    c.WidthInBytes = 4 * (size_t)ints, c.Height = c.Depth = 1;
    CK(cuGraphGetNodes(graph, &node, &count));
    SHOW(cuGraphExecMemcpyNodeSetParams(exec, node, &c, context));
}

static void update(CUgraphExec exec, CUgraph graph, int *to, int ints) {
    CUgraphExecUpdateResultInfo info;
    CUgraph other = copy_down(to, ints);

    CK(cuGraphDestroy(graph));
    SHOW(cuGraphExecUpdate(exec, other, &info));
    CK(cuGraphDestroy(other));
}

static void under_way(const char *what, void (*change)(CUgraphExec, CUgraph, int *, int)) {
    static int old[8192], fresh[8192];
    int *pinned, written = 0;
    pthread_t release;
    CUgraphExec exec;
    CUgraph graph = copy_down(old, 8192);
    CUstream launches;

    printf("%s\n", what);
    memset(old, 0, sizeof(old));
    memset(fresh, 0, sizeof(fresh));
    CK(cuMemsetD32(x, 7, 8192));
    CK(cuStreamCreate(&launches, CU_STREAM_NON_BLOCKING));
    CK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    released = 0;
    pthread_create(&release, NULL, release_later, NULL);
    CK(cuLaunchHostFunc(launches, wait_for_release, NULL));
    CK(cuGraphLaunch(exec, launches));
    change(exec, graph, fresh, 8192);
    CK(cuMemAllocHost((void **)&pinned, sizeof(old)));
    memset(pinned, 0, sizeof(old));
    CK(cuStreamSynchronize(launches));
    pthread_join(release, NULL);
    for (int i = 0; i < 8192; i++)
        written += pinned[i] != 0;
    printf("before %d, after %d, another's %d\n", old[8191], fresh[8191], written);
    CK(cuGraphLaunch(exec, launches));
    CK(cuStreamSynchronize(launches));
    printf("the next one %d\n", fresh[8191]);
    CK(cuGraphExecDestroy(exec));
    CK(cuStreamDestroy(launches));
    CK(cuMemFreeHost(pinned));
}

int main(void) {
    context = start();
    CK(cuMemAlloc(&x, sizeof(in)));
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    printf("-- captured\n");
    captured(16);
    captured(8192);
    printf("-- nodes\n");
    nodes();
    printf("-- changed under way\n");
    under_way("a node", set_node);
    under_way("all of it", update);
    return 0;
}
