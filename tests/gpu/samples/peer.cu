// SPDX-License-Identifier: Apache-2.0
/* Peer access: what can be asked; copies and kernels between devices, where there are two. */
#include "common.cuh"

__global__ void add(const int *far, int *here, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        here[i] += far[i];
}

static void across(int from, int to) {
    std::vector<int> v(1000, from + 5);
    int *a, *b, can;

    CK(cudaDeviceCanAccessPeer(&can, from, to));
    printf("%d reaches %d: %d\n", from, to, can);
    CK(cudaSetDevice(from));
    a = on_device(v);
    CK(cudaSetDevice(to));
    CK(cudaMalloc(&b, 4000));
    SHOW(cudaMemcpyPeer(b, to, a, from, 4000));
    printf("copied %d\n", from_device(b, 1000)[999]);
    if (can) {
        SHOW(cudaDeviceEnablePeerAccess(from, 0));
        SHOW(cudaDeviceEnablePeerAccess(from, 0));
        cudaGetLastError();
        add<<<4, 256>>>(a, b, 1000);
        SHOW(cudaDeviceSynchronize());
        printf("added %d\n", from_device(b, 1000)[999]);
    }
    SHOW(cudaMemcpy(b, a, 4000, cudaMemcpyDefault));
    if (can)
        SHOW(cudaDeviceDisablePeerAccess(from));
}

int main() {
    int n, can = -1, value = -1, *d;

    CK(cudaGetDeviceCount(&n));
    printf("devices %d\n", n);
    SHOW(cudaDeviceCanAccessPeer(&can, 0, 0));
    printf("itself %d\n", can);
    SHOW(cudaDeviceCanAccessPeer(&can, 0, 99));
    SHOW(cudaDeviceCanAccessPeer(nullptr, 0, 0));
    SHOW(cudaDeviceEnablePeerAccess(0, 0));
    SHOW(cudaDeviceEnablePeerAccess(99, 0));
    SHOW(cudaDeviceDisablePeerAccess(0));
    SHOW(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
    SHOW(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 99));
    CK(cudaMalloc(&d, 64));
    SHOW(cudaMemcpyPeer(d, 0, d + 8, 0, 32));
    SHOW(cudaMemcpyPeer(d, 99, d + 8, 0, 32));
    for (int i = 1; i < n; i++) {
        across(0, i);
        across(i, 0);
    }
    return 0;
}
