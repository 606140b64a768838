/* SPDX-License-Identifier: Apache-2.0 */
/* What the checks of the simulated GPU share. */
#ifndef SIMGPU_CHECK_H
#define SIMGPU_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda_abi.h"

#define MEMORY ((size_t)64 << 20) /* of each of the two devices */

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(error, call) assert_int_equal(call, error)

/* The text of kernels.ptx, ended by a NUL; the caller frees it. */
char *kernels_text(void);

/* Starts the driver; makes device 0's primary context current. For cmocka's group setup. */
int start(void **state);

/* For each test: a context of its own, with the kernels loaded, and taken away again. */
int setup(void **state);
int teardown(void **state);

/* What setup makes it on. */
extern CUdevice device;

/* What setup made. */
extern CUcontext context;
extern CUmodule module;

CUfunction function(const char *name);

/* Launches one block of `threads`. */
CUresult launch(const char *name, unsigned threads, CUstream stream, void **params);

/* A word of pinned memory, which kernels wait for: closed (0) when made. */
int *new_gate(void);
void open_gate(int *gate);

/* Starts a kernel that goes on until the gate is opened. */
void occupy(CUstream stream, int *gate);

void sleep_ms(unsigned ms);

#endif
