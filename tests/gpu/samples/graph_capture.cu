// SPDX-License-Identifier: Apache-2.0
/* Graphs by capture: forks, joins, what may not be captured, replays with other data. */
#include "common.cuh"

__global__ void add(int *v, int x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        v[i] += x;
}

__global__ void mul(int *v, int x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        v[i] *= x;
}

static int host_calls;

static void CUDART_CB count(void *) {
    host_calls++;
}

int main() {
    const int n = 4096;
    std::vector<int> zero(n, 0), back(n);
    int *a = on_device(zero), *b = on_device(zero);
    cudaStream_t s, other;
    cudaEvent_t fork, join;
    cudaGraph_t graph, copy, none;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    size_t nodes = 0;

    CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    SHOW(cudaStreamIsCapturing(s, &status));
    printf("status %d\n", status);
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    add<<<n / 256, 256, 0, s>>>(a, 3, n);
    SHOW(cudaEventRecord(fork, s));
    SHOW(cudaStreamWaitEvent(other, fork, 0));
    SHOW(cudaStreamIsCapturing(other, &status));
    printf("status %d\n", status);
    add<<<n / 256, 256, 0, other>>>(b, 7, n);
    mul<<<n / 256, 256, 0, s>>>(a, 2, n);
    SHOW(cudaMemsetAsync(b, 0, 64, other));
    SHOW(cudaLaunchHostFunc(other, count, nullptr));
    SHOW(cudaEventRecord(join, other));
    SHOW(cudaStreamWaitEvent(s, join, 0));
    SHOW(cudaMemcpyAsync(back.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost, s));
    SHOW(cudaStreamEndCapture(s, &graph));
    SHOW(cudaGraphGetNodes(graph, nullptr, &nodes));
    printf("nodes %zu\n", nodes);
    SHOW(cudaGraphGetRootNodes(graph, nullptr, &nodes));
    printf("roots %zu\n", nodes);
    SHOW(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 5; i++) {
        CK(cudaGraphLaunch(exec, s));
        CK(cudaStreamSynchronize(s));
        printf("replay %d: a %d b %d\n", i, back[n - 1], from_device(b, n)[n - 1]);
    }
    printf("host calls %d\n", host_calls);
    SHOW(cudaGraphClone(&copy, graph));
    SHOW(cudaGraphGetNodes(copy, nullptr, &nodes));
    printf("nodes %zu\n", nodes);
    SHOW(cudaGraphDestroy(copy));

    // What breaks a capture.
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaStreamIsCapturing(s, &status));
    printf("status %d\n", status);
    SHOW(cudaStreamEndCapture(s, &none));
    SHOW(cudaStreamEndCapture(s, &none));
    SHOW(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    CK(cudaEventRecord(fork, s));
    CK(cudaStreamWaitEvent(other, fork, 0));
    add<<<1, 1, 0, other>>>(a, 1, 1);
    SHOW(cudaStreamEndCapture(s, &none));
    SHOW(cudaGetLastError());
    SHOW(cudaGraphLaunch(exec, s));
    SHOW(cudaStreamSynchronize(s));
    printf("after all: a %d\n", back[n - 1]);
    SHOW(cudaGraphExecDestroy(exec));
    SHOW(cudaGraphDestroy(graph));
    return 0;
}
