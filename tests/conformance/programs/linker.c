// SPDX-License-Identifier: Apache-2.0
/* The driver's linker: states, inputs, logs, and what comes out. */
#include "common.h"

KERNELS(vector_add);

static const char broken[] = ".version 7.0\n.target sm_75\n.address_size 64\nnonsense here\n";

static void run(const void *image) {
    float a[3] = {1, 2, 3}, b[3] = {10, 20, 30}, c[3] = {0};
    CUmodule m = module(image);
    CUdeviceptr d[3];
    int n = 3;

    for (int i = 0; i < 3; i++)
        CK(cuMemAlloc(&d[i], sizeof(a)));
    CK(cuMemcpyHtoD(d[0], a, sizeof(a)));
    CK(cuMemcpyHtoD(d[1], b, sizeof(b)));
    void *args[] = {&d[0], &d[1], &d[2], &n};
    CK(cuLaunchKernel(function(m, "vector_add"), 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    CK(cuMemcpyDtoH(c, d[2], sizeof(c)));
    printf("%g %g %g\n", c[0], c[1], c[2]);
    CK(cuModuleUnload(m));
}

static void one_input(void) {
    char info[4096] = "", error[4096] = "";
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_WALL_TIME,        CU_JIT_LOG_VERBOSE};
    void *values[] = {info, (void *)sizeof(info), error, (void *)sizeof(error), NULL, (void *)1};
    CUlinkState l;
    void *cubin = NULL;
    size_t size = 0;

    SHOW(cuLinkCreate(6, options, values, &l));
    SHOW(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)ptx_vector_add, strlen(ptx_vector_add) + 1,
                       "vector_add", 0, NULL, NULL));
    SHOW(cuLinkComplete(l, &cubin, &size));
    printf("made something: %d, error log: %s\n", cubin && size, error[0] ? "yes" : "no");
    run(cubin);
    SHOW(cuLinkDestroy(l));
}

static void a_file(void) {
    char path[] = "/tmp/vcuda-linker-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    CUlinkState l;
    void *cubin;
    size_t size;

    fputs(ptx_vector_add, file);
    fclose(file);
    SHOW(cuLinkCreate(0, NULL, NULL, &l));
    SHOW(cuLinkAddFile(l, CU_JIT_INPUT_PTX, path, 0, NULL, NULL));
    SHOW(cuLinkAddFile(l, CU_JIT_INPUT_PTX, "/no/such/file", 0, NULL, NULL));
    SHOW(cuLinkAddFile(l, CU_JIT_INPUT_PTX, NULL, 0, NULL, NULL));
    SHOW(cuLinkComplete(l, &cubin, &size));
    run(cubin);
    SHOW(cuLinkDestroy(l));
    remove(path);
}

static void wrong(void) {
    char error[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    CUjit_option unknown = 999;
    void *values[] = {error, (void *)sizeof(error)};
    CUlinkState l;

    SHOW(cuLinkCreate(0, NULL, NULL, NULL));
    SHOW(cuLinkCreate(1, NULL, NULL, &l));
    SHOW(cuLinkCreate(1, &unknown, values, &l));
    SHOW(cuLinkCreate(2, options, values, &l));
    SHOW(cuLinkAddData(l, CU_JIT_INPUT_PTX, (void *)broken, sizeof(broken), "broken", 0, NULL,
                       NULL));
    printf("error log: %s\n", error[0] ? "yes" : "no");
    SHOW(cuLinkDestroy(l));
    SHOW(cuLinkCreate(0, NULL, NULL, &l));
    SHOW(cuLinkAddData(l, CU_JIT_INPUT_PTX, NULL, 10, "x", 0, NULL, NULL));
    SHOW(cuLinkAddData(l, 77, (void *)ptx_vector_add, 10, "x", 0, NULL, NULL));
    SHOW(cuLinkDestroy(l));
}

int main(void) {
    start();
    printf("-- one input\n");
    one_input();
    printf("-- a file\n");
    a_file();
    printf("-- wrong\n");
    wrong();
    return 0;
}
