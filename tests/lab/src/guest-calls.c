// SPDX-License-Identifier: Apache-2.0
/*
 * A CUDA program that makes calls of one sort, for whoever counts what they cost:
 *
 *   guest-calls [OPTION...] query N
 *   guest-calls [OPTION...] launch N
 *   guest-calls [-r ROUNDS] [-n] pinned|pageable BYTES
 *
 * query waits for each answer; launch posts an empty kernel, and waits after each 1000. Options:
 *
 *   -a SECONDS       begins at that second of the day, so that several programs begin together
 *   -d SECONDS       stands still before the first call and after the last one, so that the calls
 *                    can be counted without the program's start and end
 *   -p MICROSECONDS  pauses after each call
 *   -t MILLISECONDS  N calls again and again for that long; times are those of the first N
 *
 * pinned and pageable copy BYTES to the GPU and back, ROUNDS (1) times, and compare, unless -n says
 * that the driver copies nothing; they load no module. Times go out as samples.h says, one line for
 * calls, and lines "up" and "down" for copies. With VCUDA_STATS=1 the library prints its counters.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_abi.h"
#include "samples.h"

#define LAUNCHES_BETWEEN_SYNCHRONISES 1000

/* For calls that must succeed. */
#define CK(call)                                                                                   \
    do {                                                                                           \
        CUresult r_ = (call);                                                                      \
        if (r_ != CUDA_SUCCESS)                                                                    \
            die(#call, r_);                                                                        \
    } while (0)

static const char empty_kernel[] = ".version 7.0\n"
                                   ".target sm_75\n"
                                   ".address_size 64\n"
                                   ".visible .entry empty()\n"
                                   "{\n"
                                   "\tret;\n"
                                   "}\n";

static unsigned int delay_s, pause_us;
static long begin_at, run_ms;
static long rounds = 1;
static bool copied = true; /* by the driver */

static void die(const char *what, CUresult r) {
    fprintf(stderr, "guest-calls: %s gave %d\n", what, (int)r);
    exit(1);
}

static void query(CUfunction unused, long i) {
    (void)unused;
    (void)i;
    CK(cuStreamQuery(NULL));
}

static void launch(CUfunction kernel, long i) {
    CK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    if ((i + 1) % LAUNCHES_BETWEEN_SYNCHRONISES == 0)
        CK(cuCtxSynchronize());
}

static void repeat(void (*call)(CUfunction kernel, long i), long count) {
    CUmodule module;
    CUfunction kernel;
    struct samples s;
    long start, made = 0;

    samples_init(&s, count);
    CK(cuModuleLoadData(&module, empty_kernel));
    CK(cuModuleGetFunction(&kernel, module, "empty"));
    sleep(delay_s);
    samples_sleep_until(begin_at);
    start = samples_now_ns();
    do {
        for (long i = 0; i < count; i++) {
            long begun = samples_now_ns();

            call(kernel, i);
            samples_add(&s, begun);
            if (pause_us)
                usleep(pause_us);
        }
        made += count;
    } while (samples_now_ns() - start < run_ms * 1000000);
    CK(cuCtxSynchronize());
    printf("%ld calls in %ld us\n", made, (samples_now_ns() - start) / 1000);
    samples_print(&s);
    sleep(delay_s);
}

static void fill(uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 7 + (i >> 12));
}

/* Up to the GPU and back: the same must return. */
static void copy(uint8_t *out, uint8_t *back, size_t size) {
    struct samples up, down;
    CUdeviceptr there;

    samples_init(&up, rounds);
    samples_init(&down, rounds);
    fill(out, size);
    memset(back, 0, size);
    CK(cuMemAlloc(&there, size));
    for (long i = 0; i < rounds; i++) {
        long begun = samples_now_ns();

        CK(cuMemcpyHtoD(there, out, size));
        samples_add(&up, begun);
        begun = samples_now_ns();
        CK(cuMemcpyDtoH(back, there, size));
        samples_add(&down, begun);
    }
    CK(cuMemFree(there));
    printf("up ");
    samples_print(&up);
    printf("down ");
    samples_print(&down);
    if (copied && memcmp(out, back, size)) {
        fprintf(stderr, "guest-calls: other bytes came back\n");
        exit(1);
    }
    printf("%zu bytes up and down\n", size);
}

static void copy_pinned(size_t size) {
    void *out, *back;

    CK(cuMemAllocHost(&out, size));
    CK(cuMemAllocHost(&back, size));
    copy(out, back, size);
    CK(cuMemFreeHost(out));
    CK(cuMemFreeHost(back));
}

static void copy_pageable(size_t size) {
    uint8_t *out = malloc(size), *back = malloc(size);

    if (!out || !back) {
        fprintf(stderr, "guest-calls: no memory\n");
        exit(1);
    }
    copy(out, back, size);
    free(out);
    free(back);
}

static int usage(void) {
    fprintf(stderr, "usage: guest-calls [OPTION...] query|launch N\n"
                    "       guest-calls [-r ROUNDS] [-n] pinned|pageable BYTES\n"
                    "options: -a SECONDS -d SECONDS -p MICROSECONDS -t MILLISECONDS\n");
    return 2;
}

int main(int argc, char **argv) {
    CUcontext context;
    const char *what;
    long number;
    int option;

    while ((option = getopt(argc, argv, "a:d:np:r:t:")) != -1) {
        if (option == 'a')
            begin_at = atol(optarg);
        else if (option == 'd')
            delay_s = (unsigned int)atoi(optarg);
        else if (option == 'n')
            copied = false;
        else if (option == 'p')
            pause_us = (unsigned int)atoi(optarg);
        else if (option == 'r' && atol(optarg) > 0)
            rounds = atol(optarg);
        else if (option == 't')
            run_ms = atol(optarg);
        else
            return usage();
    }
    if (argc - optind != 2)
        return usage();
    what = argv[optind];
    number = atol(argv[optind + 1]);
    if (number <= 0)
        return usage();
    CK(cuInit(0));
    CK(cuDevicePrimaryCtxRetain(&context, 0));
    CK(cuCtxSetCurrent(context));
    if (!strcmp(what, "query"))
        repeat(query, number);
    else if (!strcmp(what, "launch"))
        repeat(launch, number);
    else if (!strcmp(what, "pinned"))
        copy_pinned((size_t)number);
    else if (!strcmp(what, "pageable"))
        copy_pageable((size_t)number);
    else
        return usage();
    CK(cuDevicePrimaryCtxRelease(0));
    return 0;
}
