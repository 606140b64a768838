/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the engine share: device memory, loading, launching. */
#ifndef PTX_TEST_SUPPORT_H
#define PTX_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../ptx.h"

/* Device memory for one test; all of it goes with dev_reset. */
extern const struct ptx_memory device;
void *dev_alloc(size_t size);
void dev_reset(void);
size_t dev_live(void); /* allocations */

/* Loads tests/NAME, or the text; fails the test if that fails. */
struct ptx_module *load_file(const char *name);
struct ptx_module *load_text(const char *text);
/* A kernel of that body: parameters `.param .u64 out, .param .u64 in` in %out and %in, and
 * registers %p, %rs, %r, %rd, %f, %fd of 32 each; %r0 is the thread's index. */
struct ptx_module *load_body(const char *body);

struct run {
    unsigned grid, block;          /* along x */
    unsigned grid_y, block_y;      /* 0: 1 */
    unsigned cluster_x, cluster_y; /* 0: none */
    size_t shared;
    const volatile bool *cancel;
    bool cooperative;
    unsigned threads;
    enum ptx_status expect;
};

extern char message[256];  /* of the last launch */
extern char printed[8192]; /* by kernels */

/* Packs the arguments (pointer, size pairs, ended by NULL) and runs. */
void run_kernel(struct ptx_module *m, const char *name, struct run r, ...);
#define ARG(x) &(x), sizeof(x)

#endif
