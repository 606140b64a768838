// SPDX-License-Identifier: Apache-2.0
/* simgpu: no kernels that launch kernels */
/* nvcc: -rdc=true -lcudadevrt */
/* Kernels that launch kernels, into the stream of the tail and the fire-and-forget one. */
#include "common.cuh"

__device__ int depth_seen;

__global__ void leaf(int *v, int n, int add) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        v[i] += add;
}

__global__ void nested(int *v, int n, int depth) {
    if (threadIdx.x || blockIdx.x)
        return;
    atomicMax(&depth_seen, depth);
    leaf<<<(n + 127) / 128, 128, 0, cudaStreamTailLaunch>>>(v, n, depth);
    if (depth < 4)
        nested<<<1, 1, 0, cudaStreamTailLaunch>>>(v, n, depth + 1);
}

__global__ void forget(int *v, int n) {
    if (threadIdx.x == 0)
        leaf<<<1, 64, 0, cudaStreamFireAndForget>>>(v + blockIdx.x * 64, min(64, n), 1000);
}

int main() {
    const int n = 1000;
    std::vector<int> v(n, 0);
    int *d = on_device(v), depth = -1;
    size_t pending;

    SHOW(cudaDeviceGetLimit(&pending, cudaLimitDevRuntimePendingLaunchCount));
    printf("pending launches %zu\n", pending);
    nested<<<1, 1>>>(d, n, 1);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    show_digest("nested", from_device(d, n));
    SHOW(cudaMemcpyFromSymbol(&depth, depth_seen, sizeof(depth)));
    printf("depth %d sum %d\n", depth, from_device(d, n)[n - 1]);
    forget<<<8, 32>>>(d, n);
    SHOW(cudaDeviceSynchronize());
    show_digest("forgotten", from_device(d, n));
    SHOW(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096));
    SHOW(cudaDeviceGetLimit(&pending, cudaLimitDevRuntimePendingLaunchCount));
    printf("pending launches %zu\n", pending);
    return 0;
}
