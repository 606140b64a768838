/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs of this machine: the listening socket of the local transport.
 */
#ifndef VCUDAD_LISTENER_H
#define VCUDAD_LISTENER_H

#include "options.h"
#include "pool.h"

/* 0, or a negative errno, logged with its remedy. A stale socket is replaced. */
int listener_start(const struct options *options, struct pool *pool);
/* Takes no more connections. */
void listener_stop(void);

#endif
