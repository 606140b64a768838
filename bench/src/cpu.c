// SPDX-License-Identifier: Apache-2.0
/*
 * usage: cpu [VCUDAD_PID]   Processor time that calls take: of the program, and of it and its
 * worker.
 *
 * Counted by the kernel over half a second of each. Time that is spent looking for news counts: it
 * is what a host cannot sell to somebody else.
 */
#include <unistd.h>

#include "bench.h"
#include "use.h"

#define SECONDS 0.5
#define BURST 64
#define FLOOD 10000 /* more than the ring holds */
#define BYTES (16u << 20)
#define KERNEL_S 0.01
#define TURNS_MAX 1000000000u

/* A kernel that takes as long as it is told to, with a result that no compiler foresees. */
static const char turning[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry turn(.param .u64 result, .param .u32 n){\n"
    ".reg .u32 %r<4>;\n.reg .u64 %q;\n.reg .pred %p;\n"
    "ld.param.u64 %q,[result];\nld.param.u32 %r1,[n];\nmov.u32 %r2,0;\nmov.u32 %r3,%r1;\n"
    "again:\nmad.lo.u32 %r3,%r3,1664525,1013904223;\nadd.u32 %r2,%r2,1;\n"
    "setp.lt.u32 %p,%r2,%r1;\n@%p bra again;\nst.global.u32 [%q],%r3;\nret;}\n";

static int vcudad;
static CUstream stream;
static CUfunction nothing, turn;
static CUdeviceptr device;
static void *pinned, *pageable;
static unsigned int turns;

static void launch(void) {
    uint64_t params[8] = {0};
    void *args[] = {params};

    CK(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
}

static void launches(int count) {
    for (int i = 0; i < count; i++)
        launch();
    CK(cuStreamSynchronize(stream));
}

static void burst(void) {
    launches(BURST);
}

static void flood(void) {
    launches(FLOOD);
}

static void launch_and_wait(void) {
    launch();
    CK(cuStreamSynchronize(stream));
}

static void long_kernel(void) {
    void *args[] = {&device, &turns};

    CK(cuLaunchKernel(turn, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    CK(cuStreamSynchronize(stream));
}

static void pinned_up(void) {
    CK(cuMemcpyHtoDAsync(device, pinned, BYTES, stream));
    CK(cuStreamSynchronize(stream));
}

static void pageable_up(void) {
    CK(cuMemcpyHtoD(device, pageable, BYTES));
}

static void pageable_down(void) {
    CK(cuMemcpyDtoH(pageable, device, BYTES));
}

static void print(const char *what, const char *whose, double ns, double count) {
    double us = ns / 1e3 / count;
    char figure[96];

    snprintf(figure, sizeof(figure), "%s: %s", what, whose);
    report(figure, "us", &us, 1);
}

/* `once` does what is to be counted `count` times. */
static void measure(const char *what, void (*once)(void), double count) {
    struct use own, helper;
    double begun, sum = 0;

    once();
    own = use_of(getpid());
    helper = use_of_family(vcudad);
    begun = now();
    while (now() - begun < SECONDS) {
        once();
        sum += count;
    }
    own.ns = use_of(getpid()).ns - own.ns;
    helper.ns = use_of_family(vcudad).ns - helper.ns;
    print(what, "program", own.ns, sum);
    print(what, "with its worker", own.ns + helper.ns, sum);
}

/* Has `turn` take about as long as it should. */
static void calibrate(void) {
    double took = 0;

    for (turns = 1000; took < KERNEL_S; turns = (unsigned int)(turns * 1.5)) {
        double begun = now();

        long_kernel();
        took = now() - begun;
        if (turns > TURNS_MAX) {
            fprintf(stderr, "a kernel of %u turns takes no time\n", turns);
            exit(1);
        }
    }
}

int main(int argc, char **argv) {
    const struct timespec start_of_another = {1, 0};
    CUmodule kernels, loop;

    vcudad = argc > 1 ? atoi(argv[1]) : 0;
    start();
    CK(cuModuleLoadData(&kernels, BENCH_PTX));
    CK(cuModuleGetFunction(&nothing, kernels, "p64"));
    CK(cuModuleLoadData(&loop, turning));
    CK(cuModuleGetFunction(&turn, loop, "turn"));
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CK(cuMemAlloc(&device, BYTES));
    CK(cuMemAllocHost(&pinned, BYTES));
    pageable = calloc(1, BYTES);
    calibrate();
    /* The worker that the next program finds ready starts with this one, and counts for none. */
    nanosleep(&start_of_another, NULL);
    measure("a launch of 64 in a row", burst, BURST);
    measure("a launch of 10000 in a row", flood, FLOOD);
    measure("launch and synchronise", launch_and_wait, 1);
    measure("a kernel of 10 ms", long_kernel, 1);
    measure("pinned MiB up", pinned_up, BYTES >> 20);
    measure("pageable MiB up", pageable_up, BYTES >> 20);
    measure("pageable MiB down", pageable_down, BYTES >> 20);
    return 0;
}
