// SPDX-License-Identifier: Apache-2.0
/* usage: images [FILE]   The same kernel as PTX, as a fat binary, from FILE.
 */
#include "common.h"

KERNELS(vector_add);

__asm__(".section .rodata\n.balign 16\n.global fatbin\nfatbin:\n"
        ".incbin \"kernels/vector_add.fatbin\"\n.previous\n");
extern const char fatbin[];

/* What nvcc puts into .nvFatBinSegment. */
static const struct {
    int magic, version;
    const void *data, *more;
} wrapper = {0x466243b1, 1, fatbin, NULL};

static void try_module(const char *kind, CUmodule m) {
    float x[100], y[100];
    int n = 100, wrong = 0;
    CUdeviceptr d;
    CUfunction f = function(m, "vector_add");
    void *args[] = {&d, &d, &d, &n};

    for (int i = 0; i < n; i++)
        x[i] = (float)i;
    CK(cuMemAlloc(&d, sizeof(x)));
    CK(cuMemcpyHtoD(d, x, sizeof(x)));
    CK(cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
    CK(cuMemcpyDtoH(y, d, sizeof(y)));
    for (int i = 0; i < n; i++)
        wrong += y[i] != 2 * x[i];
    printf("%s: %d wrong\n", kind, wrong);
    CK(cuModuleUnload(m));
    CK(cuMemFree(d));
}

int main(int argc, char **argv) {
    char damaged[64];
    CUmodule m;

    start();
    CK(cuModuleLoadData(&m, ptx_vector_add));
    try_module("PTX", m);
    CK(cuModuleLoadData(&m, fatbin));
    try_module("fat binary", m);
    CK(cuModuleLoadFatBinary(&m, fatbin));
    try_module("fat binary by its own call", m);
    /* Only the library calls, which the runtime uses, take it. */
    SHOW(cuModuleLoadData(&m, &wrapper));
    SHOW(cuModuleLoadFatBinary(&m, &wrapper));
    memcpy(damaged, fatbin, sizeof(damaged));
    damaged[0] ^= 0x55;
    SHOW(cuModuleLoadData(&m, damaged));
    if (argc > 1) {
        CK(cuModuleLoad(&m, argv[1]));
        try_module("file", m);
    }
    return 0;
}
