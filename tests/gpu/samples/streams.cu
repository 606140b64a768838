// SPDX-License-Identifier: Apache-2.0
/* Streams that depend on each other by events; default streams; wrong arguments. */
#include "common.cuh"

__global__ void step(int *v, int factor, int add, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        v[i] = v[i] * factor + add;
}

int main() {
    const int n = 10000, streams = 8;
    std::vector<int> v(n, 1);
    int *d = on_device(v);
    cudaStream_t s[streams], other;
    cudaEvent_t e[streams];
    unsigned flags;
    int priority, device;
    unsigned long long id1, id2;

    for (int i = 0; i < streams; i++) {
        CK(cudaStreamCreateWithFlags(&s[i], i % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
        CK(cudaEventCreateWithFlags(&e[i], cudaEventDisableTiming));
    }
    // A chain over all streams, three times round: the result tells the order.
    for (int i = 0; i < 3 * streams; i++) {
        if (i)
            CK(cudaStreamWaitEvent(s[i % streams], e[(i - 1) % streams], 0));
        step<<<(n + 127) / 128, 128, 0, s[i % streams]>>>(d, i % 3 + 1, i, n);
        CK(cudaEventRecord(e[i % streams], s[i % streams]));
    }
    SHOW(cudaStreamSynchronize(s[(3 * streams - 1) % streams]));
    printf("chain %d\n", from_device(d, n)[n - 1]);
    SHOW(cudaStreamQuery(s[0]));
    SHOW(cudaStreamGetFlags(s[1], &flags));
    printf("flags %u\n", flags);
    SHOW(cudaStreamGetPriority(s[1], &priority));
    printf("priority %d\n", priority);
    SHOW(cudaStreamGetId(s[0], &id1));
    SHOW(cudaStreamGetId(s[1], &id2));
    printf("ids differ %d\n", id1 != id2);
    SHOW(cudaStreamGetDevice(s[0], &device));
    SHOW(cudaStreamGetFlags(cudaStreamLegacy, &flags));
    SHOW(cudaStreamGetFlags(cudaStreamPerThread, &flags));
    SHOW(cudaStreamCreateWithFlags(&other, 77));
    SHOW(cudaStreamCreate(nullptr));
    SHOW(cudaStreamGetFlags(s[0], nullptr));
    SHOW(cudaStreamWaitEvent(s[0], nullptr, 0));
    // The legacy stream waits for s[0] (blocking) but not for s[1].
    step<<<(n + 127) / 128, 128, 0, s[0]>>>(d, 2, 0, n);
    step<<<(n + 127) / 128, 128>>>(d, 1, 5, n);
    step<<<(n + 127) / 128, 128, 0, cudaStreamPerThread>>>(d, 1, 1, n);
    SHOW(cudaDeviceSynchronize());
    printf("mixed %d\n", from_device(d, n)[0]);
    for (int i = 0; i < streams; i++) {
        CK(cudaStreamDestroy(s[i]));
        CK(cudaEventDestroy(e[i]));
    }
    SHOW(cudaStreamSynchronize(nullptr));
    return 0;
}
