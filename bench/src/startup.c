// SPDX-License-Identifier: Apache-2.0
/* usage: startup   From cuInit to the first kernel's end, once: ms. */
#include "bench.h"

int main(void) {
    double begun = now(), sample;
    CUmodule module;
    CUfunction f;

    start();
    CK(cuModuleLoadData(&module, BENCH_PTX));
    CK(cuModuleGetFunction(&f, module, "p0"));
    CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CK(cuCtxSynchronize());
    sample = (now() - begun) * 1e3;
    report("cuInit to the first kernel's end", "ms", &sample, 1);
    return 0;
}
