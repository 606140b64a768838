/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each guest uses and has used: files STATE-DIR/domains/ID for `vcudactl
 * info`, and two numbers in xenstore for `vcudactl list`.
 */
#ifndef VCUDAD_DOMAINS_H
#define VCUDAD_DOMAINS_H

#include "pool.h"

#include <stdbool.h>

/* Clears STATE-DIR/domains of what an earlier vcudad wrote. */
void domains_start(const char *state_dir);
/* Keeps the numbers of a session that has ended. */
void domains_session_ended(const struct vcuda_supervise_session *session,
                           const struct vcuda_stats *stats);
/* Writes what has changed. False: not all could be, and it is to be tried again. */
bool domains_publish(const struct pool *pool);
/* xenstore knows nothing of what was written: all is told anew. */
void domains_tell_anew(void);
/* The domain exists no more. */
void domains_forget(uint32_t domid);

#endif
