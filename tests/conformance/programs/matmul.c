// SPDX-License-Identifier: Apache-2.0
/* usage: matmul [N]   Tiled product of N x N matrices (N a multiple of 16), checked. */
#include "common.h"

KERNELS(matmul);

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 96, wrong = 0;
    size_t bytes = (size_t)n * (size_t)n * sizeof(float);
    float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
    uint32_t seed = 1;
    CUdeviceptr da, db, dc;
    double trace = 0;

    start();
    CUfunction f = function(module(ptx_matmul), "matmul");
    /* Small integers: every sum is exact, whatever the order. */
    for (int i = 0; i < n * n; i++) {
        a[i] = (float)(next_random(&seed) % 16);
        b[i] = (float)(next_random(&seed) % 16);
    }
    CK(cuMemAlloc(&da, bytes));
    CK(cuMemAlloc(&db, bytes));
    CK(cuMemAlloc(&dc, bytes));
    CK(cuMemcpyHtoD(da, a, bytes));
    CK(cuMemcpyHtoD(db, b, bytes));
    void *args[] = {&da, &db, &dc, &n};
    CK(cuLaunchKernel(f, (unsigned)n / 16, (unsigned)n / 16, 1, 16, 16, 1, 0, NULL, args, NULL));
    CK(cuMemcpyDtoH(c, dc, bytes));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0;

            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            wrong += sum != c[i * n + j];
        }
        trace += c[i * n + i];
    }
    printf("matmul n=%d wrong=%d trace=%.1f\n", n, wrong, trace);
    return wrong != 0;
}
