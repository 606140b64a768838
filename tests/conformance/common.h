/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the conformance programs share. A program prints what it saw; the same
 * program prints the same natively, over the local transport and in a guest.
 */
#ifndef VCUDA_CONFORMANCE_COMMON_H
#define VCUDA_CONFORMANCE_COMMON_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_abi.h"
#include "outlive.h"

/* The PTX of kernels/NAME.cu, as text. */
#define KERNELS(name)                                                                              \
    __asm__(".section .rodata\n"                                                                   \
            ".global ptx_" #name "\nptx_" #name ":\n"                                              \
            ".incbin \"kernels/" #name ".ptx\"\n.byte 0\n.previous\n");                            \
    extern const char ptx_##name[]

/* For calls that must succeed. */
#define CK(call)                                                                                   \
    do {                                                                                           \
        CUresult r_ = (call);                                                                      \
        if (r_ != CUDA_SUCCESS) {                                                                  \
            printf("%s:%d: %s gave %d %s\n", __FILE__, __LINE__, #call, r_, error_name(r_));       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* For calls whose result is the test: prints it, under a name or as it is written. */
#define SAY(what, call)                                                                            \
    do {                                                                                           \
        if (step(what))                                                                            \
            printf("%s = %d\n", what, (int)(call));                                                \
    } while (0)
#define SHOW(call) SAY(#call, call)

/* What was printed before a crash is seen. */
__attribute__((constructor)) static void begin(void) {
    int status;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (getenv("OUTLIVE") && !outlive(&status))
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static inline const char *error_name(CUresult r) {
    const char *name = NULL;

    return cuGetErrorName(r, &name) == CUDA_SUCCESS ? name : "?";
}

/* Initialised, with a context of device 0 that is current. */
static inline CUcontext start(void) {
    CUcontext c;

    CK(cuInit(0));
    CK(cuDevicePrimaryCtxRetain(&c, 0));
    CK(cuCtxSetCurrent(c));
    return c;
}

static inline CUfunction function(CUmodule m, const char *name) {
    CUfunction f;

    CK(cuModuleGetFunction(&f, m, name));
    return f;
}

static inline CUmodule module(const char *ptx) {
    CUmodule m;

    CK(cuModuleLoadData(&m, ptx));
    return m;
}

/*
 * Runs part of a program in a process of its own, before CUDA is used here: where a driver falls
 * over it, the rest goes on.
 */
static inline void apart(const char *what, void (*part)(void)) {
    int status = 0;

    printf("-- %s\n", what);
    if (outlive(&status)) {
        part();
        fflush(stdout);
        _exit(0);
    }
    if (status)
        printf("ended with %d\n", status);
}

/* A repeatable stream of numbers. */
static inline uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#endif
