// SPDX-License-Identifier: Apache-2.0
/* usage: em [N [STEPS]]   Expectation maximisation of a mixture of three Gaussians. */
#include <math.h>

#include "common.h"

KERNELS(em);

#define K 3

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 6000, steps = argc > 2 ? atoi(argv[2]) : 12, k = K;
    float weight[K] = {0.4f, 0.3f, 0.3f}, mean[K] = {-3, 1, 5}, variance[K] = {1, 1, 1};
    static const float truth[K] = {-4, 0, 6};
    float *x = malloc((size_t)n * sizeof(float)), likelihood = 0;
    CUdeviceptr dx, dw, dm, dv, ds, dl;
    uint32_t seed = 3;

    start();
    CUmodule m = module(ptx_em);
    CUfunction expect = function(m, "em_expect"), maximise = function(m, "em_maximise");
    for (int i = 0; i < n; i++) {
        float sum = 0; /* twelve uniform numbers make a normal one */

        for (int j = 0; j < 12; j++)
            sum += (float)(next_random(&seed) % 65536) / 65536.0f;
        x[i] = truth[i % K] + (sum - 6) * (1 + 0.25f * (float)(i % K));
    }
    CK(cuMemAlloc(&dx, (size_t)n * sizeof(float)));
    CK(cuMemAlloc(&dw, sizeof(weight)));
    CK(cuMemAlloc(&dm, sizeof(mean)));
    CK(cuMemAlloc(&dv, sizeof(variance)));
    CK(cuMemAlloc(&ds, 3 * K * sizeof(float)));
    CK(cuMemAlloc(&dl, sizeof(float)));
    CK(cuMemcpyHtoD(dx, x, (size_t)n * sizeof(float)));
    CK(cuMemcpyHtoD(dw, weight, sizeof(weight)));
    CK(cuMemcpyHtoD(dm, mean, sizeof(mean)));
    CK(cuMemcpyHtoD(dv, variance, sizeof(variance)));
    for (int i = 0; i < steps; i++) {
        void *e[] = {&dx, &n, &k, &dw, &dm, &dv, &ds, &dl};
        void *a[] = {&n, &k, &ds, &dw, &dm, &dv};

        CK(cuMemsetD32Async(ds, 0, 3 * K, NULL));
        CK(cuMemsetD32Async(dl, 0, 1, NULL));
        CK(cuLaunchKernel(expect, 8, 1, 1, 128, 1, 1, 0, NULL, e, NULL));
        CK(cuLaunchKernel(maximise, 1, 1, 1, 32, 1, 1, 0, NULL, a, NULL));
    }
    CK(cuMemcpyDtoH(weight, dw, sizeof(weight)));
    CK(cuMemcpyDtoH(mean, dm, sizeof(mean)));
    CK(cuMemcpyDtoH(variance, dv, sizeof(variance)));
    CK(cuMemcpyDtoH(&likelihood, dl, sizeof(likelihood)));
    /* Sums of floats in any order: fewer digits than they have. */
    for (int i = 0; i < K; i++)
        printf("cluster %d weight=%.3f mean=%.2f variance=%.2f\n", i, weight[i], mean[i],
               variance[i]);
    printf("em n=%d steps=%d likelihood=%.1f\n", n, steps, likelihood / (float)n);
    return 0;
}
