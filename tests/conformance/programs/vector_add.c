// SPDX-License-Identifier: Apache-2.0
/* usage: vector_add [N]   c = a + b, checked against the processor. */
#include "common.h"

KERNELS(vector_add);

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 50000, wrong = 0;
    size_t bytes = (size_t)n * sizeof(float);
    float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
    CUdeviceptr da, db, dc;
    CUfunction f;
    double sum = 0;

    start();
    f = function(module(ptx_vector_add), "vector_add");
    for (int i = 0; i < n; i++) {
        a[i] = (float)i;
        b[i] = 0.5f * (float)i;
    }
    CK(cuMemAlloc(&da, bytes));
    CK(cuMemAlloc(&db, bytes));
    CK(cuMemAlloc(&dc, bytes));
    CK(cuMemcpyHtoD(da, a, bytes));
    CK(cuMemcpyHtoD(db, b, bytes));
    void *args[] = {&da, &db, &dc, &n};
    CK(cuLaunchKernel(f, ((unsigned)n + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
    CK(cuMemcpyDtoH(c, dc, bytes));
    for (int i = 0; i < n; i++) {
        wrong += c[i] != a[i] + b[i];
        sum += c[i];
    }
    CK(cuMemFree(da));
    CK(cuMemFree(db));
    CK(cuMemFree(dc));
    printf("vector_add n=%d wrong=%d sum=%.1f\n", n, wrong, sum);
    return wrong != 0;
}
