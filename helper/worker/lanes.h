/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes: threads that make calls of one stream each, when several threads of the program call
 * faster than the executor can make their calls. Each stream has its lane and keeps its order
 * there; whatever is not a stream's own affair waits until the lanes have made what they were
 * given. A program whose threads do not crowd never has any.
 */
#ifndef VCUDA_WORKER_LANES_H
#define VCUDA_WORKER_LANES_H

#include <stdbool.h>
#include <stdint.h>

struct vcuda_rec;
struct worker;

/* Decides how many there may be. Once, by the executor, whose all calls here are. */
void lanes_start(void);

/*
 * Gives a lane the record, of `len` bytes, which it copies, of a call in this stream alone (its
 * name). False: the executor makes the call itself. What the lanes hold of it then comes before.
 */
bool lanes_take(struct worker *w, const struct vcuda_rec *record, uint32_t len, uint64_t stream);

/* Waits until the lanes have made all calls. */
void lanes_drain(struct worker *w);

#endif
