// SPDX-License-Identifier: Apache-2.0
/* Libraries whose text is wrong: when it is looked at. And what only some libraries have. */
#include "common.h"

KERNELS(basics);

static void text(const char *what, const char *code) {
    CUlibrary l = NULL;
    CUkernel k = NULL;
    CUmodule m;
    CUdeviceptr d;
    unsigned int count = 77;

    printf("%s\n", what);
    SHOW(cuLibraryLoadData(&l, code, NULL, NULL, 0, NULL, NULL, 0));
    if (!l)
        return;
    SHOW(cuLibraryGetKernelCount(&count, l));
    printf("%u kernels\n", count);
    SHOW(cuLibraryGetKernel(&k, l, "count"));
    SHOW(cuLibraryGetModule(&m, l));
    SHOW(cuLibraryGetGlobal(&d, NULL, l, "counter"));
    SHOW(cuLibraryUnload(l));
}

static void all(void) {
    text("no PTX", "this is no image");
    text("nothing", "");
    text("wrong PTX", ".version 7.0\n.target sm_75\n.address_size 64\nnonsense\n");
    text("a future version", ".version 99.0\n.target sm_75\n.address_size 64\n");
    text("another machine", ".version 8.0\n.target sm_121\n.address_size 64\n");
}

static void without_a_context(void) {
    CK(cuInit(0));
    all();
}

static void with_a_context(void) {
    CUdeviceptr address;
    CUlibrary l;
    CUkernel k;
    int value;

    start();
    all();
    CK(cuLibraryLoadData(&l, ptx_basics, NULL, NULL, 0, NULL, NULL, 0));
    SHOW(cuLibraryGetManaged(&address, NULL, l, "counter"));
    SHOW(cuLibraryGetManaged(&address, NULL, l, "no_such_variable"));
    SHOW(cuLibraryGetUnifiedFunction((void **)&address, l, "no_such_function"));
    CK(cuLibraryGetKernel(&k, l, "count"));
    SHOW(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, (CUfunction)k));
}

static void loading(void) {
    CUfunctionLoadingState state = 77;
    CUfunction f;
    CUlibrary l;
    CUkernel k;

    start();
    CK(cuLibraryLoadData(&l, ptx_basics, NULL, NULL, 0, NULL, NULL, 0));
    CK(cuLibraryGetKernel(&k, l, "count"));
    CK(cuKernelGetFunction(&f, k));
    SHOW(cuFuncIsLoaded(&state, f));
    printf("state %d\n", state);
    SHOW(cuLaunchKernel((CUfunction)k, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SHOW(cuFuncIsLoaded(&state, f));
    printf("state %d\n", state);
    SHOW(cuFuncLoad(f));
    f = function(module(ptx_basics), "count");
    SHOW(cuFuncIsLoaded(&state, f));
    printf("of a module: %d\n", state);
    SHOW(cuFuncLoad(f));
    SHOW(cuFuncIsLoaded(&state, f));
    printf("state %d\n", state);
    SHOW(cuFuncIsLoaded(NULL, f));
}

int main(void) {
    apart("without a context", without_a_context);
    apart("with a context", with_a_context);
    apart("loading", loading);
    return 0;
}
