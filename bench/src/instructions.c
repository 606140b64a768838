// SPDX-License-Identifier: Apache-2.0
/*
 * usage: instructions KIND   1000 posted calls of a kind, for a counter of instructions.
 *
 * Run under callgrind with --toggle-collect=counted: what is collected is 1000 times the library's
 * part of a call, and the loop's. The worker takes the calls in between, so that none waits for
 * room. Kinds: empty, launch0, launch64, launch256, memset, event.
 */
#include "bench.h"

static CUstream stream;
static CUevent event;
static CUdeviceptr device;
static CUfunction function;

static void empty(void) {
}

static void launch(void) {
    static uint8_t bytes[256];
    void *args[] = {bytes};

    CK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
}

static void fill(void) {
    CK(cuMemsetD8Async(device, 0, 64, stream));
}

static void record(void) {
    CK(cuEventRecord(event, stream));
}

static const struct {
    const char *name, *kernel;
    void (*call)(void);
} kinds[] = {{"empty", "p0", empty},        {"launch0", "p0", launch}, {"launch64", "p64", launch},
             {"launch256", "p256", launch}, {"memset", "p0", fill},    {"event", "p0", record}};

/* Named for the counter. All of them fit into the ring. */
__attribute__((noinline)) void counted(void (*call)(void)) {
    for (int i = 0; i < 250; i++)
        call();
}

int main(int argc, char **argv) {
    CUmodule module;
    size_t kind = 0;

    while (kind < sizeof(kinds) / sizeof(kinds[0]) &&
           (argc < 2 || strcmp(argv[1], kinds[kind].name)))
        kind++;
    if (kind == sizeof(kinds) / sizeof(kinds[0]))
        return 2;
    start();
    CK(cuModuleLoadData(&module, BENCH_PTX));
    CK(cuModuleGetFunction(&function, module, kinds[kind].kernel));
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CK(cuMemAlloc(&device, 4096));
    /* What is done once is not counted. */
    kinds[kind].call();
    for (int i = 0; i < 4; i++) {
        CK(cuStreamSynchronize(stream));
        counted(kinds[kind].call);
    }
    CK(cuStreamSynchronize(stream));
    return 0;
}
