// SPDX-License-Identifier: Apache-2.0
/* needs: gpu: the simulated one has no unified functions */
/*
 * Addresses of a library's functions. Only those that are declared unified have one; the driver's
 * compiler may refuse such text, since NVIDIA's own takes it only as part of a linked program.
 */
#include "common.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define BODY(operation)                                                                            \
    "(.param .b32 x)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [x];\n" operation                     \
    " %r2, %r1, 3;\nst.param.b32 [r], %r2;\nret;\n}\n"

static const char plain[] = HEAD ".visible .func (.param .b32 r) plus" BODY(
    "add.u32") ".visible .entry call_it(.param .u64 code, .param .u32 x, .param .u64 out)\n{\n"
               ".reg .b64 %rd<4>;\n.reg .b32 %r<3>;\n"
               "ld.param.u64 %rd1, [code];\nld.param.u32 %r1, [x];\nld.param.u64 %rd2, [out];\n"
               "cvta.to.global.u64 %rd3, %rd2;\n{\n.param .b32 given;\n.param .b32 got;\n"
               "st.param.b32 [given], %r1;\n"
               "prototype : .callprototype (.param .b32 _) _ (.param .b32 _);\n"
               "call (got), %rd1, (given), prototype;\n"
               "ld.param.b32 %r2, [got];\n}\nst.global.u32 [%rd3], %r2;\nret;\n}\n";

static const char unified[] =
    HEAD ".visible .func .attribute(.unified(0xAB, 0xCD)) (.param .b32 r) times" BODY(
        "mul.lo.u32") ".visible .entry nothing()\n{\nret;\n}\n";

/* A kernel calls what lies at the address. */
static void call(CUkernel caller, void *code) {
    uint32_t x = 14, result = 0;
    CUdeviceptr out;

    CK(cuMemAlloc(&out, sizeof(result)));
    SHOW(cuLaunchKernel((CUfunction)caller, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&code, &x, &out},
                        NULL));
    SHOW(cuMemcpyDtoH(&result, out, sizeof(result)));
    printf("%u\n", result);
}

static void ask(CUlibrary l, CUkernel caller, const char *symbol) {
    void *code = NULL;

    printf("-- %s\n", symbol);
    SHOW(cuLibraryGetUnifiedFunction(&code, l, symbol));
    printf("%s\n", code ? "an address" : "none");
    if (code)
        call(caller, code);
}

static void with_a_context(void) {
    CUlibrary l, of_unified;
    CUkernel caller;
    void *code;

    start();
    CK(cuLibraryLoadData(&l, plain, NULL, NULL, 0, NULL, NULL, 0));
    CK(cuLibraryGetKernel(&caller, l, "call_it"));
    ask(l, caller, "plus");
    ask(l, caller, "call_it");
    ask(l, caller, "no_such_function");
    SHOW(cuLibraryLoadData(&of_unified, unified, NULL, NULL, 0, NULL, NULL, 0));
    ask(of_unified, caller, "times");
    ask(of_unified, caller, "nothing");
    ask(of_unified, caller, "no_such_function");
    SHOW(cuLibraryGetUnifiedFunction(NULL, l, "plus"));
    SHOW(cuLibraryGetUnifiedFunction(&code, NULL, "plus"));
    SHOW(cuLibraryGetUnifiedFunction(&code, l, NULL));
    SHOW(cuLibraryGetUnifiedFunction(&code, l, ""));
}

static void without_a_context(void) {
    CUlibrary l;
    void *code;

    CK(cuInit(0));
    CK(cuLibraryLoadData(&l, plain, NULL, NULL, 0, NULL, NULL, 0));
    SHOW(cuLibraryGetUnifiedFunction(&code, l, "plus"));
    CK(cuLibraryLoadData(&l, unified, NULL, NULL, 0, NULL, NULL, 0));
    SHOW(cuLibraryGetUnifiedFunction(&code, l, "times"));
}

int main(void) {
    apart("with a context", with_a_context);
    apart("without a context", without_a_context);
    return 0;
}
