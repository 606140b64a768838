/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the program vcuda-worker.
 */
#ifndef VCUDAD_SPAWN_H
#define VCUDAD_SPAWN_H

#include "options.h"
#include "stats.h"

#include <sys/types.h>

struct spawned {
    pid_t pid;
    int sock;                        /* our end of the socket pair, non-blocking */
    const struct vcuda_stats *stats; /* in the worker's page */
    struct vcuda_worker_page *page;  /* of it, only the roster is ours to write */
};

/* drop: the worker's --drop argument or NULL. 0 or a negative errno. */
int spawn_worker(const struct options *options, const char *drop, unsigned number,
                 struct spawned *spawned);

/* Lets go of the socket and the page. */
void spawn_release(struct spawned *spawned);

#endif
