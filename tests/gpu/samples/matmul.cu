// SPDX-License-Identifier: Apache-2.0
/* A tiled matrix product in static and in dynamic shared memory. */
#include "common.cuh"

#define TILE 16

__global__ void product(const int *a, const int *b, int *c, int n) {
    __shared__ int ta[TILE][TILE], tb[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x, sum = 0;

    for (int t = 0; t < n; t += TILE) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

__global__ void product_dynamic(const int *a, const int *b, int *c, int n) {
    extern __shared__ int tiles[];
    int *ta = tiles, *tb = tiles + TILE * TILE;
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x, sum = 0;

    for (int t = 0; t < n; t += TILE) {
        ta[threadIdx.y * TILE + threadIdx.x] = a[row * n + t + threadIdx.x];
        tb[threadIdx.y * TILE + threadIdx.x] = b[(t + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += ta[threadIdx.y * TILE + k] * tb[k * TILE + threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

int main() {
    const int n = 256;
    std::vector<int> a(n * n), b(n * n), c(n * n);
    uint32_t seed = 1;
    dim3 threads(TILE, TILE), blocks(n / TILE, n / TILE);
    size_t large = 200 << 10;

    for (int i = 0; i < n * n; i++) {
        a[i] = next_random(&seed) % 100;
        b[i] = next_random(&seed) % 100;
    }
    int *da = on_device(a), *db = on_device(b), *dc = on_device(c);
    product<<<blocks, threads>>>(da, db, dc, n);
    SHOW(cudaDeviceSynchronize());
    show_digest("static", from_device(dc, n * n));
    CK(cudaMemset(dc, 0, n * n * sizeof(int)));
    product_dynamic<<<blocks, threads, 2 * TILE * TILE * sizeof(int)>>>(da, db, dc, n);
    SHOW(cudaDeviceSynchronize());
    show_digest("dynamic", from_device(dc, n * n));
    product_dynamic<<<blocks, threads, large>>>(da, db, dc, n);
    SHOW(cudaGetLastError());
    SHOW(cudaFuncSetAttribute(product_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, large));
    product_dynamic<<<blocks, threads, large>>>(da, db, dc, n);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    show_digest("large", from_device(dc, n * n));
    printf("one element %d\n", from_device(dc, n * n)[n + 7]);
    return 0;
}
