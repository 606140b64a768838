/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What memory pools hold: more than the program has from them, since they keep what was freed, and
 * give it back in their own time. So the driver is asked.
 */
#ifndef VCUDA_WORKER_POOLS_H
#define VCUDA_WORKER_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_types.h"

struct worker;

/*
 * Takes what is to be allocated from anywhere, after a look at what pools have given back
 * meanwhile: false if the limit does not leave so much.
 */
bool pools_take_any(struct worker *w, uint64_t bytes);

/* Takes what a pool needs to hand out `bytes`: nothing, if it keeps so many. */
bool pools_take(struct worker *w, CUmemoryPool pool, uint64_t bytes);
/* After the driver's answer: what the pool holds now. False: more than the limit leaves. */
bool pools_look(struct worker *w, CUmemoryPool pool);
/* At all pools, and at the memory of graphs. */
void pools_look_at_all(struct worker *w);
/* Something goes back to a pool in a stream's order. */
void pools_free(void);
/* Whether anything did since the session began: the driver's waits then look after its pools. */
bool pools_freed(void);
/* The pool has ended: what the program has from it goes on. */
void pools_end(CUmemoryPool pool);

/* The session's hold on a pool that is shared, or 0, and what the pool holds, in bytes. */
uint32_t pools_hold(CUmemoryPool pool, uint64_t *bytes);
/* The pool is shared: vcudad is told when it grows. */
void pools_set_hold(struct worker *w, CUmemoryPool pool, uint32_t hold);
/* A pool that another session counts. */
void pools_imported(CUmemoryPool pool, uint32_t hold);

/* From here on some graph may hold memory: it is the device's, and counted like a pool's. */
void pools_graphs_hold(void);
/* A graph was launched: what graphs hold now, if any does. */
void pools_graph_launched(struct worker *w);

#endif
