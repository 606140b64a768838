/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What vcudad shows of itself: STATE-DIR/status, one JSON object, replaced as a
 * whole when something changes and every second while there are sessions.
 * vcudad(8) describes its fields.
 */
#ifndef VCUDAD_STATUS_H
#define VCUDAD_STATUS_H

#include "pool.h"

/* After single_start(): the file is ours alone. */
void status_start(const struct options *options, const struct pool *pool);
/* Something that the file shows is different now. */
void status_changed(void);
void status_session_ended(const struct vcuda_supervise_session *session,
                          const struct vcuda_stats *stats);
/* Removes the file: nobody is here any more. */
void status_stop(void);

#endif
