/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that workers of one owner pass to each other (share.h): what they ask, over the sockets
 * that they were started with.
 */
#ifndef VCUDAD_BROKER_H
#define VCUDAD_BROKER_H

#include "pool.h"

#include <stdbool.h>

/* Serves one request of a worker that has a session: false if its socket is to be closed. */
bool broker_serve(const struct worker *worker);

#endif
