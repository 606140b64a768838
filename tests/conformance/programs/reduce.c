// SPDX-License-Identifier: Apache-2.0
#include "common.h"

KERNELS(reduce);
KERNELS(histogram);

#define N 100003

int main(void) {
    int *in = malloc(N * sizeof(int)), n = N;
    unsigned char *bytes = malloc(N);
    unsigned int bins[256], expected[256] = {0}, wrong = 0;
    uint32_t seed = 7;
    long long sum = 0, got = 0;
    CUdeviceptr din, dout;

    start();
    CUfunction reduce = function(module(ptx_reduce), "reduce");
    CUfunction histogram = function(module(ptx_histogram), "histogram");
    for (int i = 0; i < N; i++) {
        in[i] = (int)(next_random(&seed) % 2001) - 1000;
        bytes[i] = (unsigned char)(in[i] * in[i]);
        sum += in[i];
        expected[bytes[i]]++;
    }
    CK(cuMemAlloc(&din, N * sizeof(int)));
    CK(cuMemAlloc(&dout, sizeof(bins)));
    CK(cuMemcpyHtoD(din, in, N * sizeof(int)));
    CK(cuMemsetD8(dout, 0, sizeof(bins)));
    void *args[] = {&din, &n, &dout};
    CK(cuLaunchKernel(reduce, 20, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
    CK(cuMemcpyDtoH(&got, dout, sizeof(got)));
    printf("reduce n=%d sum=%lld %s\n", N, got, got == sum ? "right" : "WRONG");

    CK(cuMemcpyHtoD(din, bytes, N));
    CK(cuMemsetD32(dout, 0, 256));
    CK(cuLaunchKernel(histogram, 12, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
    CK(cuMemcpyDtoH(bins, dout, sizeof(bins)));
    for (int i = 0; i < 256; i++)
        wrong += bins[i] != expected[i];
    printf("histogram n=%d wrong=%u bin[0]=%u bin[1]=%u\n", N, wrong, bins[0], bins[1]);
    return got != sum || wrong;
}
