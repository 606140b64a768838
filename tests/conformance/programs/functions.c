// SPDX-License-Identifier: Apache-2.0
/* Functions: parameters of every alignment, both forms, globals, constants, logs of the JIT. */
#include "common.h"

KERNELS(basics);

struct mixed {
    char c;
    double d;
    short s[3];
};

static void parameters(CUmodule m) {
    CUfunction f = function(m, "mixed_params");
    struct mixed mixed = {1, 2.5, {3, 4, 5}};
    char c = 10;
    short s = 100;
    float x = 0.25f;
    double out[3];
    CUdeviceptr d;
    size_t offset, size, i;

    CK(cuMemAlloc(&d, sizeof(out)));
    for (i = 0; cuFuncGetParamInfo(f, i, &offset, &size) == CUDA_SUCCESS; i++)
        printf("parameter %zu at %zu, %zu bytes\n", i, offset, size);
    void *args[] = {&c, &mixed, &s, &d, &x};
    CK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    CK(cuMemcpyDtoH(out, d, sizeof(out)));
    printf("by pointers: %g %g %g\n", out[0], out[1], out[2]);

    struct {
        char c;
        struct mixed m __attribute__((aligned(8)));
        short s;
        CUdeviceptr out;
        float f;
    } packed = {20, mixed, 200, d, 0.5f};
    size_t bytes = sizeof(packed);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    SHOW(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    CK(cuMemcpyDtoH(out, d, sizeof(out)));
    printf("by buffer: %g %g %g\n", out[0], out[1], out[2]);
    SHOW(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, extra));
}

/* A buffer that ends before the parameters do, or behind them. */
static void buffers(CUmodule m) {
    static const size_t tried[] = {0, 1, 8, 12, 15, 16, 17, 20, 24};
    CUfunction none = function(m, "count"), fill = function(m, "fill_index");
    struct {
        CUdeviceptr out;
        int n, base;
        char more[32];
    } packed = {0, 1, 77, {0}};
    size_t bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};

    CK(cuMemAlloc(&packed.out, 4096));
    for (size_t i = 2; i < sizeof(tried) / sizeof(tried[0]); i++) {
        bytes = tried[i];
        printf("%zu of 16 bytes: %d\n", bytes,
               cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    }
    for (size_t i = 0; i < 3; i++) {
        bytes = tried[i];
        printf("%zu of none: %d\n", bytes,
               cuLaunchKernel(none, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    }
    SHOW(cuCtxSynchronize());
    CK(cuMemFree(packed.out));
}

static void globals(CUmodule m) {
    CUfunction count = function(m, "count"), scale = function(m, "scale");
    float x[4] = {1, 1, 1, 1}, table[4] = {3, 5, 7, 9};
    int n = 4, value = 0;
    CUdeviceptr counter, constants, d;
    size_t bytes;

    CK(cuModuleGetGlobal(&counter, &bytes, m, "counter"));
    printf("counter %zu bytes\n", bytes);
    CK(cuLaunchKernel(count, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    CK(cuMemcpyDtoH(&value, counter, sizeof(value)));
    printf("counter %d\n", value);
    CK(cuMemAlloc(&d, sizeof(x)));
    CK(cuMemcpyHtoD(d, x, sizeof(x)));
    void *args[] = {&d, &n};
    CK(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    CK(cuModuleGetGlobal(&constants, &bytes, m, "table"));
    CK(cuMemcpyHtoD(constants, table, sizeof(table)));
    CK(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    CK(cuMemcpyDtoH(x, d, sizeof(x)));
    printf("constants %zu bytes: %g %g %g %g\n", bytes, x[0], x[1], x[2], x[3]);
}

static void shared_memory(CUmodule m) {
    CUfunction f = function(m, "dynamic_shared");
    int out[64], wrong = 0, value;
    CUdeviceptr d;

    CK(cuMemAlloc(&d, sizeof(out)));
    void *args[] = {&d};
    CK(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 64 * sizeof(int), NULL, args, NULL));
    CK(cuMemcpyDtoH(out, d, sizeof(out)));
    for (int i = 0; i < 64; i++)
        wrong += out[i] != 63 - i;
    printf("dynamic shared memory: %d wrong\n", wrong);
    SHOW(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
    SHOW(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    printf("limit %d\n", value);
    SHOW(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 65536, NULL, args, NULL));
    SHOW(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 65540, NULL, args, NULL));
    SHOW(cuCtxSynchronize());
}

static void log_of_errors(void) {
    char log[2048] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof(log)};
    CUmodule m;

    SHOW(cuModuleLoadDataEx(&m, ".version 7.0\n.target sm_75\n.address_size 64\nnonsense here\n", 2,
                            options, values));
    printf("there is a log: %s\n", log[0] ? "yes" : "no");
}

int main(void) {
    start();
    CUmodule m = module(ptx_basics);

    parameters(m);
    buffers(m);
    globals(m);
    shared_memory(m);
    log_of_errors();
    return 0;
}
