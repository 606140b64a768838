// SPDX-License-Identifier: Apache-2.0
/* Events: what they measure makes sense, what cannot be measured is refused. */
#include "common.cuh"

__global__ void spin(long long clocks) {
    long long end = clock64() + clocks;

    while (clock64() < end)
        ;
}

int main() {
    cudaEvent_t a, b, untimed, never;
    cudaStream_t s;
    float ms = -1;

    CK(cudaStreamCreate(&s));
    SHOW(cudaEventCreate(&a));
    SHOW(cudaEventCreateWithFlags(&b, cudaEventBlockingSync));
    SHOW(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    SHOW(cudaEventCreate(&never));
    SHOW(cudaEventCreateWithFlags(&never, 0x100));
    SHOW(cudaEventCreate(nullptr));
    SHOW(cudaEventQuery(a));
    SHOW(cudaEventSynchronize(a));
    SHOW(cudaEventElapsedTime(&ms, a, b));
    SHOW(cudaEventRecord(a, s));
    spin<<<1, 1, 0, s>>>(200000000);
    SHOW(cudaEventRecord(b, s));
    SHOW(cudaEventQuery(b));
    SHOW(cudaEventElapsedTime(&ms, a, b));
    SHOW(cudaEventSynchronize(b));
    SHOW(cudaEventQuery(b));
    SHOW(cudaEventElapsedTime(&ms, a, b));
    printf("time makes sense %d\n", ms > 2 && ms < 1000);
    SHOW(cudaEventElapsedTime(&ms, b, a));
    printf("negative %d\n", ms < 0);
    SHOW(cudaEventRecord(untimed, s));
    SHOW(cudaEventSynchronize(untimed));
    SHOW(cudaEventElapsedTime(&ms, a, untimed));
    SHOW(cudaEventElapsedTime(nullptr, a, b));
    SHOW(cudaEventRecordWithFlags(a, s, cudaEventRecordExternal));
    SHOW(cudaEventRecord(nullptr, s));
    // Destroying an event that is still to come is allowed.
    spin<<<1, 1, 0, s>>>(1000000);
    SHOW(cudaEventRecord(b, s));
    SHOW(cudaEventDestroy(b));
    SHOW(cudaEventDestroy(a));
    SHOW(cudaEventDestroy(nullptr));
    SHOW(cudaStreamDestroy(s));
    SHOW(cudaDeviceSynchronize());
    return 0;
}
