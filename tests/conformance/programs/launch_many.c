// SPDX-License-Identifier: Apache-2.0
/* Thousands of launches in a row, by both forms: each sees the parameters that it was given. */
#include "common.h"

KERNELS(basics);

#define LAUNCHES 6000

struct mixed {
    char c;
    double d;
    short s[3];
};

static CUfunction f;
static CUdeviceptr out;

/* What the kernel reads lies there only until the launch returns. */
static CUresult by_pointers(int i) {
    struct mixed m = {(char)(i % 50), i + 0.5, {(short)i, (short)(i % 7), 1}};
    char c = (char)(i % 40);
    short s = (short)(i % 1000);
    CUdeviceptr to = out + (size_t)i * 3 * sizeof(double);
    float x = 0.25f;
    void *args[] = {&c, &m, &s, &to, &x};

    return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
}

static CUresult by_buffer(int i) {
    struct {
        char c;
        struct mixed m __attribute__((aligned(8)));
        short s;
        CUdeviceptr out;
        float f;
    } packed = {(char)(i % 40),
                {(char)(i % 50), i + 0.5, {(short)i, (short)(i % 7), 1}},
                (short)(i % 1000),
                out + (size_t)i * 3 * sizeof(double),
                0.25f};
    size_t bytes = offsetof(__typeof__(packed), f) + sizeof(float);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};

    return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
}

static int wrong_ones(const double *results) {
    int wrong = 0;

    for (int i = 0; i < LAUNCHES; i++) {
        const double *r = results + 3 * i;

        wrong +=
            r[0] != i % 40 + i % 50 + i % 1000 || r[1] != i + 0.75 || r[2] != (short)i + i % 7 + 1;
    }
    return wrong;
}

static void all(const char *how, CUresult (*launch)(int i)) {
    size_t bytes = LAUNCHES * 3 * sizeof(double);
    double *results = malloc(bytes);
    int failed = 0;

    CK(cuMemsetD8(out, 0xff, bytes));
    for (int i = 0; i < LAUNCHES; i++)
        failed += launch(i) != CUDA_SUCCESS;
    CK(cuMemcpyDtoH(results, out, bytes));
    printf("%s: failed %d wrong %d\n", how, failed, wrong_ones(results));
    free(results);
}

int main(void) {
    start();
    f = function(module(ptx_basics), "mixed_params");
    CK(cuMemAlloc(&out, LAUNCHES * 3 * sizeof(double)));
    all("by pointers", by_pointers);
    all("by buffer", by_buffer);
    CK(cuMemFree(out));
    return 0;
}
