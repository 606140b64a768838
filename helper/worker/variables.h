/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much device memory the variables of code take: what its text or its sections say, since no
 * driver tells it before it is loaded.
 */
#ifndef VCUDA_WORKER_VARIABLES_H
#define VCUDA_WORKER_VARIABLES_H

#include <stdint.h>

struct cuda_image;

/*
 * Bytes of variables in global memory of an image. Of a fat binary the most that any of its entries
 * has. What makes no sense has none: the driver will not load it.
 */
uint64_t variables_bytes(const struct cuda_image *image);

#endif
