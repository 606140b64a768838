// SPDX-License-Identifier: Apache-2.0
#include "check.h"

CUdevice device;
CUcontext context;
CUmodule module;

char *kernels_text(void) {
    FILE *file = fopen(KERNELS_PTX, "rb");
    char *text = calloc(1, 65536);

    assert_non_null(file);
    assert_non_null(text);
    assert_in_range(fread(text, 1, 65535, file), 1, 65534);
    fclose(file);
    return text;
}

/* Before any test: two small devices, whatever the caller's environment says. */
__attribute__((constructor)) static void choose_devices(void) {
    setenv("SIMGPU_DEVICES", "2", 1);
    setenv("SIMGPU_MEMORY", "64M", 1);
}

int start(void **state) {
    (void)state;
    return cuInit(0) != CUDA_SUCCESS;
}

int setup(void **state) {
    char *text = kernels_text();

    (void)state;
    OK(cuCtxCreate(&context, NULL, 0, device));
    OK(cuModuleLoadData(&module, text));
    free(text);
    return 0;
}

int teardown(void **state) {
    (void)state;
    OK(cuCtxDestroy(context));
    return 0;
}

CUfunction function(const char *name) {
    CUfunction found;

    OK(cuModuleGetFunction(&found, module, name));
    return found;
}

CUresult launch(const char *name, unsigned threads, CUstream stream, void **params) {
    return cuLaunchKernel(function(name), 1, 1, 1, threads, 1, 1, 0, stream, params, NULL);
}

int *new_gate(void) {
    void *gate;

    OK(cuMemHostAlloc(&gate, sizeof(int), 0));
    return gate;
}

void open_gate(int *gate) {
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
}

void occupy(CUstream stream, int *gate) {
    OK(launch("wait_for", 1, stream, (void *[]){&gate}));
}

void sleep_ms(unsigned ms) {
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}
