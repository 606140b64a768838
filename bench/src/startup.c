// SPDX-License-Identifier: Apache-2.0
/* usage: startup   From cuInit to the first kernel's end, once, step by step: ms. */
#include "bench.h"

static double begun, last;

/* Milliseconds since the step before. */
static void step(const char *figure) {
    double sample = (now() - last) * 1e3;

    report(figure, "ms", &sample, 1);
    last = now();
}

int main(void) {
    CUcontext context;
    CUmodule module;
    CUfunction f;
    double sample;

    begun = last = now();
    CK(cuInit(0));
    step("cuInit");
    CK(cuDevicePrimaryCtxRetain(&context, 0));
    CK(cuCtxSetCurrent(context));
    step("primary context");
    CK(cuModuleLoadData(&module, BENCH_PTX));
    CK(cuModuleGetFunction(&f, module, "p0"));
    step("first module, PTX");
    CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CK(cuCtxSynchronize());
    step("first launch, to its end");
    sample = (now() - begun) * 1e3;
    report("cuInit to the first kernel's end", "ms", &sample, 1);
    return 0;
}
