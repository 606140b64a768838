/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles of conditional nodes. Kernels are given them, so that the guest must have the driver's
 * own values: what comes back from it is looked up before the driver sees it.
 */
#ifndef VCUDA_WORKER_CONDITIONAL_H
#define VCUDA_WORKER_CONDITIONAL_H

#include <stdbool.h>
#include <stdint.h>

struct worker;

/* Whether the guest was given this handle, for a graph that is there still. */
bool conditional_known(struct worker *w, uint64_t handle);

#endif
