// SPDX-License-Identifier: Apache-2.0
/*
 * A small CUDA program over the guest's library: makes a context and some
 * memory, checks that what it writes there comes back, and says "works". Then
 * it does the same for each byte on its standard input, and ends at its end.
 * Says "error N" and exits with 1 when a call fails.
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
    need(cuMemAlloc(&memory, BYTES));
    round_trip(memory);
    while (read(STDIN_FILENO, &byte, 1) == 1)
        round_trip(memory);
    return 0;
}
