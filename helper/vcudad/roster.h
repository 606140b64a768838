/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells each worker which programs of its own domain (without Xen: of its own user) have sessions,
 * so that NVML can tell them to the domain, and no others.
 */
#ifndef VCUDAD_ROSTER_H
#define VCUDAD_ROSTER_H

#include "pool.h"

/* Writes a worker's roster; it has its session. */
void roster_write(const struct pool *pool, struct worker *worker);

/* Writes those of all that serve. */
void roster_refresh(const struct pool *pool);

#endif
