/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests: /dev/vcuda-host and xenstore. One of xen.c and xen_stub.c is built,
 * by whether libxenstore is there.
 */
#ifndef VCUDAD_XEN_H
#define VCUDAD_XEN_H

#include "options.h"
#include "pool.h"

#include <stdbool.h>
#include <stdint.h>

bool xen_built_in(void);

/*
 * Starts to serve guests as options->xen says. 0, also where "auto" finds
 * nothing to serve; a negative errno, logged with its remedy, when vcudad
 * should not run.
 */
int xen_start(const struct options *options, struct pool *pool);
/* Looks for devices, policies and dead domains anew. */
void xen_reload(void);
/* Takes no more sessions. */
void xen_stop(void);

/* One line for the status: "serving", or why not. */
const char *xen_state(void);

/* Tells xenstore what a domain uses. False: it could not be told now. */
bool xen_publish(uint32_t domid, uint32_t sessions, uint64_t pages, uint64_t gpu_memory);

#endif
