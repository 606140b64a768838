/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the benchmarks share: time, percentiles, and the one line that they print for each figure:
 *
 *   figure,unit,samples,p50,p99,p99.9
 *
 * A program measures whatever libcuda.so.1 it finds; bench/run starts it natively and over vcuda in
 * turn, and compares.
 */
#ifndef VCUDA_BENCH_H
#define VCUDA_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_abi.h"

#define CK(call)                                                                                   \
    do {                                                                                           \
        CUresult r_ = (call);                                                                      \
        if (r_ != CUDA_SUCCESS) {                                                                  \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, r_);                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Seconds on a clock that only goes forward. */
static inline double now(void) {
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static inline int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Sorts the samples and prints the figure's line. */
static inline void report(const char *figure, const char *unit, double *samples, int count) {
    qsort(samples, (size_t)count, sizeof(*samples), by_value);
    printf("%s,%s,%d,%.4g,%.4g,%.4g\n", figure, unit, count, samples[count / 2],
           samples[count - 1 - count / 100], samples[count - 1 - count / 1000]);
    fflush(stdout);
}

/* Room for samples: as many as the first argument says, else *count, and no fewer than `least`. */
static inline double *samples_wanted(int argc, char **argv, int *count, int least) {
    double *samples;

    if (argc > 1)
        *count = atoi(argv[1]);
    if (*count < least)
        *count = least;
    samples = calloc((size_t)*count, sizeof(*samples));
    if (!samples)
        exit(1);
    return samples;
}

/* Initialised, with device 0's primary context current. */
static inline CUcontext start(void) {
    CUcontext context;

    CK(cuInit(0));
    CK(cuDevicePrimaryCtxRetain(&context, 0));
    CK(cuCtxSetCurrent(context));
    return context;
}

/* Kernels that do nothing, with 0 to 4096 bytes of parameters. */
#define BENCH_PTX                                                                                  \
    ".version 7.0\n.target sm_80\n.address_size 64\n"                                              \
    ".visible .entry p0(){ret;}\n"                                                                 \
    ".visible .entry p64(.param .align 8 .b8 a[64]){ret;}\n"                                       \
    ".visible .entry p256(.param .align 8 .b8 a[256]){ret;}\n"                                     \
    ".visible .entry p1024(.param .align 8 .b8 a[1024]){ret;}\n"                                   \
    ".visible .entry p4096(.param .align 8 .b8 a[4096]){ret;}\n"

#endif
