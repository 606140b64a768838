/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device addresses that a guest names in copies and fills. Where the GPU
 * reaches the ordinary memory of a process (HMM, ATS), the driver takes any
 * address of the worker's for one: there they are checked here.
 */
#ifndef VCUDA_WORKER_ADDRESSES_H
#define VCUDA_WORKER_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

struct worker;

/* Asks the driver whether any device of the guest's reaches the worker's own memory. Once. */
void addresses_start(struct worker *w);

/* Whether all of [address, address + bytes) is memory of the driver's or of the guest's. */
bool addresses_ok(struct worker *w, uint64_t address, uint64_t bytes);

#endif
