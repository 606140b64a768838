/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events between processes: how often each was recorded, and which of these records were reached,
 * in a page that all of them map.
 */
#ifndef SIMGPU_EVENT_SHARE_H
#define SIMGPU_EVENT_SHARE_H

#include "sim.h"

struct sim_event_share; /* counted references */

/* A new one, to which others may come; NULL: the system refuses. */
struct sim_event_share *sim_event_share_new(void);
/* Another process' one. CUDA_ERROR_INVALID_VALUE: the handle names none. */
CUresult sim_event_share_open(const CUipcEventHandle *handle, struct sim_event_share **out);
void sim_event_share_put(struct sim_event_share *share); /* NULL is fine */
void sim_event_share_tell(const struct sim_event_share *share, CUipcEventHandle *handle);

/* Records it behind the stream's work, or makes the stream wait for its last record so far. */
CUresult sim_event_share_record(struct sim_event_share *share, struct sim_stream *stream);
CUresult sim_event_share_follow(struct sim_event_share *share, struct sim_stream *stream);

/* Whether the last record so far was reached; and until it is. */
bool sim_event_share_done(struct sim_event_share *share);
void sim_event_share_wait(struct sim_event_share *share);

#endif
