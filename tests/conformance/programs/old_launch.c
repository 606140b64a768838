// SPDX-License-Identifier: Apache-2.0
/* Launches as CUDA 3 had them: shape and parameters set on the function. */
#include "common.h"

KERNELS(basics);

static void right(void) {
    int out[64], wrong = 0;
    CUfunction f;
    CUdeviceptr d;
    CUstream s;

    start();
    f = function(module(ptx_basics), "fill_index");
    CK(cuMemAlloc(&d, sizeof(out)));
    CK(cuStreamCreate(&s, 0));
    SHOW(cuFuncSetBlockShape(f, 32, 1, 1));
    SHOW(cuFuncSetSharedSize(f, 0));
    SHOW(cuParamSetv(f, 0, &d, sizeof(d)));
    SHOW(cuParamSeti(f, 8, 64));
    SHOW(cuParamSeti(f, 12, 1000));
    SHOW(cuParamSetSize(f, 16));
    SHOW(cuLaunchGrid(f, 2, 1));
    CK(cuMemcpyDtoH(out, d, sizeof(out)));
    for (int i = 0; i < 64; i++)
        wrong += out[i] != 1000 + i;
    printf("%d wrong\n", wrong);
    SHOW(cuParamSeti(f, 12, 5));
    SHOW(cuLaunchGridAsync(f, 2, 1, s));
    CK(cuStreamSynchronize(s));
    CK(cuMemcpyDtoH(out, d, sizeof(out)));
    printf("%d %d\n", out[0], out[63]);
    SHOW(cuParamSeti(f, 12, 7));
    SHOW(cuLaunch(f));
    CK(cuMemcpyDtoH(out, d, sizeof(out)));
    printf("%d %d %d\n", out[0], out[31], out[32]);
}

static void wrong(void) {
    CUfunction f;

    start();
    f = function(module(ptx_basics), "scale");
    SHOW(cuParamSetf(f, 0, 1.5f));
    SHOW(cuFuncSetBlockShape(f, 0, 1, 1));
    SHOW(cuFuncSetBlockShape(f, 5000, 1, 1));
    SHOW(cuParamSetSize(f, 100000));
    SHOW(cuParamSeti(f, -4, 1));
}

static void no_shape(void) {
    start();
    SHOW(cuFuncSetBlockShape(NULL, 1, 1, 1));
}

static void no_parameter(void) {
    start();
    SHOW(cuParamSeti(NULL, 0, 1));
}

static void no_launch(void) {
    start();
    SHOW(cuLaunch(NULL));
}

int main(void) {
    apart("right", right);
    apart("wrong", wrong);
    apart("no function to shape", no_shape);
    apart("no function for a parameter", no_parameter);
    apart("no function to launch", no_launch);
    return 0;
}
