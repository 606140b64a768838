/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code for images that the driver would compile: what an earlier program of the same owner had
 * compiled is kept by vcudad, and need not be compiled again.
 */
#ifndef VCUDA_WORKER_COMPILED_H
#define VCUDA_WORKER_COMPILED_H

#include <stdbool.h>

struct cuda_image;
struct worker;

/*
 * Machine code for a checked image, made without options: kept, or compiled now and kept for
 * others. *code is the caller's to free. False: the driver is to be given the image itself, which
 * needs no compiling or gives an error.
 */
bool compiled_code(struct worker *w, const struct cuda_image *image, char **code);

#endif
