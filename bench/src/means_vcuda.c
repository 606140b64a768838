// SPDX-License-Identifier: Apache-2.0
/* The same calls over vcuda: a limit is asked for, kernels without a body are launched. */
#include "bench.h"
#include "means.h"

static CUfunction functions[5];
static const struct {
    const char *name;
    uint32_t params;
} kernels[] = {{"p0", 0}, {"p64", 64}, {"p256", 256}, {"p1024", 1024}, {"p4096", 4096}};

static void call(struct means *m) {
    size_t limit;

    (void)m;
    CK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
}

static void post(struct means *m, uint32_t params) {
    static uint8_t bytes[4096];
    void *args[] = {bytes};

    (void)m;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        if (kernels[i].params == params)
            CK(cuLaunchKernel(functions[i], 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    }
}

void means_vcuda(struct means *m) {
    CUmodule module;

    start();
    CK(cuModuleLoadData(&module, BENCH_PTX));
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        CK(cuModuleGetFunction(&functions[i], module, kernels[i].name));
    *m = (struct means){.name = "vcuda", .looks = true, .call = call, .post = post};
}
