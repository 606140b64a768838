// SPDX-License-Identifier: Apache-2.0
/* Constant and global variables: copies both ways, addresses, sizes, bounds. */
#include "common.cuh"

__constant__ float weights[16];
__device__ int table[100] = {1, 2, 3};
__device__ double scalar = 2.5;

__global__ void apply(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    for (int k = 0; k < 16; k++)
        sum += weights[k] * in[(i + k) % n];
    if (i < n)
        out[i] = sum;
}

__global__ void touch() {
    table[threadIdx.x] += threadIdx.x;
    if (!threadIdx.x)
        scalar *= 2;
}

int main() {
    const int n = 1000;
    std::vector<float> in(n), out(n);
    float w[16];
    int t[100], *address;
    double d = 0;
    size_t size = 0;
    cudaStream_t s;

    for (int i = 0; i < n; i++)
        in[i] = (float)(i % 32);
    for (int i = 0; i < 16; i++)
        w[i] = (float)(i - 8) / 4;
    float *a = on_device(in), *b = on_device(out);
    SHOW(cudaMemcpyToSymbol(weights, w, sizeof(w)));
    apply<<<4, 256>>>(a, b, n);
    SHOW(cudaDeviceSynchronize());
    show_digest("filtered", from_device(b, n));
    CK(cudaStreamCreate(&s));
    w[0] = 9;
    SHOW(cudaMemcpyToSymbolAsync(weights, w, 2 * sizeof(float), 4 * sizeof(float),
                                 cudaMemcpyHostToDevice, s));
    apply<<<4, 256, 0, s>>>(a, b, n);
    SHOW(cudaStreamSynchronize(s));
    show_digest("filtered", from_device(b, n));
    touch<<<1, 100>>>();
    SHOW(cudaMemcpyFromSymbol(t, table, sizeof(t)));
    SHOW(cudaMemcpyFromSymbol(&d, scalar, sizeof(d)));
    printf("table %d %d %d %d scalar %.3f\n", t[0], t[1], t[2], t[99], d);
    SHOW(cudaGetSymbolSize(&size, table));
    printf("size %zu\n", size);
    SHOW(cudaGetSymbolAddress((void **)&address, table));
    printf("through the address %d\n", from_device(address, 100)[99]);
    SHOW(cudaMemcpyToSymbol(weights, w, sizeof(w), 4));
    SHOW(cudaMemcpyFromSymbol(t, table, sizeof(t), 0, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpyToSymbol((const void *)w, w, 4));
    SHOW(cudaGetSymbolSize(&size, (const void *)w));
    SHOW(cudaGetSymbolAddress((void **)&address, (const void *)nullptr));
    SHOW(cudaGetLastError());
    return 0;
}
