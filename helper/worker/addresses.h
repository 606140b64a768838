/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device addresses that a guest names: in copies, fills, operations on memory
 * words, nodes of graphs, textures and questions. Where the GPU reaches the
 * ordinary memory of a process (HMM, ATS), the driver takes any address of the
 * worker's for one: there they are checked here. What a kernel is given can be
 * checked by nobody: it may compute any address.
 */
#ifndef VCUDA_WORKER_ADDRESSES_H
#define VCUDA_WORKER_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "copy3d.h"
#include "cuda_types.h"

struct worker;

/* Asks the driver whether any device of the guest's reaches the worker's own memory. Once. */
void addresses_start(struct worker *w);

/* Whether all of [address, address + bytes) is memory of the driver's or of the guest's. */
bool addresses_ok(struct worker *w, uint64_t address, uint64_t bytes);

/* The same of rows, `width` bytes each and `pitch` apart. */
bool addresses_rows_ok(struct worker *w, uint64_t address, uint64_t pitch, uint64_t width,
                       uint64_t rows);
/* The same of one side of a copy, which is a device's. */
bool addresses_place_ok(struct worker *w, const struct vcuda_copy3d *c,
                        const struct vcuda_place *p);
/* The same of the words that operations wait for or write. */
bool addresses_operations_ok(struct worker *w, const CUstreamBatchMemOpParams *ops, size_t count);

#endif
