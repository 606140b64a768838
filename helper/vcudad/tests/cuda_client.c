// SPDX-License-Identifier: Apache-2.0
/*
 * A small CUDA program over the guest's library: makes a context, loads a text
 * and launches its kernel, makes some memory, checks that what it writes there comes back, and says
 * "works". Then it does the same for each byte on its standard input, and ends at its end. Says
 * "error N" and exits with 1 when a call fails.
 */
#include "cuda_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES (1u << 20)

static void need(CUresult result) {
    if (result == CUDA_SUCCESS)
        return;
    printf("error %d\n", result);
    exit(1);
}

static void run_text(void) {
    static const char text[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                               ".visible .entry client(){ret;}\n";
    CUmodule module;
    CUfunction f;

    need(cuModuleLoadData(&module, text));
    need(cuModuleGetFunction(&f, module, "client"));
    need(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    need(cuCtxSynchronize());
}

static void round_trip(CUdeviceptr memory) {
    static unsigned char out[BYTES], in[BYTES];

    for (size_t i = 0; i < BYTES; i++)
        out[i] = (unsigned char)rand();
    need(cuMemcpyHtoD(memory, out, BYTES));
    memset(in, 0, BYTES);
    need(cuMemcpyDtoH(in, memory, BYTES));
    if (memcmp(out, in, BYTES)) {
        puts("wrong data");
        exit(1);
    }
    puts("works");
}

int main(void) {
    CUdevice device;
    CUcontext context;
    CUdeviceptr memory;
    char byte;

    setvbuf(stdout, NULL, _IOLBF, 0);
    need(cuInit(0));
    need(cuDeviceGet(&device, 0));
    need(cuDevicePrimaryCtxRetain(&context, device));
    need(cuCtxSetCurrent(context));
    run_text();
    need(cuMemAlloc(&memory, BYTES));
    round_trip(memory);
    while (read(STDIN_FILENO, &byte, 1) == 1)
        round_trip(memory);
    return 0;
}
