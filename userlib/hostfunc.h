/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the program that the driver calls: host functions in streams and
 * graphs, stream callbacks, destructors of user objects, notifications of
 * devices. The driver is in
 * another process: it is given a number, and when it calls, the worker says the
 * number and one thread here, started with the first function, runs what it
 * stands for. How to launch one:
 *
 *     id = hostfunc_register(fn, data);          0: out of memory
 *     r = wire_cuSomething(t, ..., id);          in calls.tbl: in u64 id
 *     if (r != CUDA_SUCCESS)
 *         hostfunc_drop(id);
 *
 * and in the worker (helper/worker/hostfunc.h):
 *
 *     return w->driver.cuSomething(..., hostfunc_once, hostfunc_arg(a->id));
 *
 * The worker's choice of hostfunc_once, _again or _tell says whether the number
 * lives on after the call. One that lives on ends with hostfunc_drop.
 */
#ifndef VCUDA_USERLIB_HOSTFUNC_H
#define VCUDA_USERLIB_HOSTFUNC_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_types.h"
#include "message.h"

/* A number for a function and its argument; 0: out of memory or no thread. Any thread. */
uint64_t hostfunc_register(CUhostFn fn, void *data);
/* The same for a function that is launched into a stream, behind a graph (graph_host_last_in()). */
uint64_t hostfunc_register_launch(CUhostFn fn, CUstream stream, void *data, uint64_t behind);
/* The same for a callback, which is also given the stream and an error. */
uint64_t hostfunc_register_callback(CUstreamCallback callback, CUstream stream, void *data,
                                    uint64_t behind);

/*
 * The same for the end of a graph's function `id`: called when no graph, copy or executable has it
 * any more, it drops that number.
 */
uint64_t hostfunc_register_end(uint64_t id);

/* The same for notifications of a device, which say `handle`; it may be set later. */
uint64_t hostfunc_register_async(CUasyncCallback callback, void *data);
void hostfunc_set_handle(uint64_t id, CUasyncCallbackHandle handle);
/* The number of a registration with that handle; 0: none. */
uint64_t hostfunc_by_handle(CUasyncCallbackHandle handle);

/*
 * A number that lives as long as the session: this one, or the one that was kept for the same
 * function and argument before, and then this one is dropped.
 */
uint64_t hostfunc_keep(uint64_t id);

/* Forgets a number that will not be called (any more). 0 and stale ones are fine. */
void hostfunc_drop(uint64_t id);

/* Whether there is any number. */
bool hostfunc_any(void);

/* What a number of hostfunc_register() stands for; false for one that is none. */
bool hostfunc_find(uint64_t id, CUhostFn *fn, void **data);

/*
 * Whether this thread runs a function that stands in that stream: *status is what a query of the
 * stream gives meanwhile.
 */
bool hostfunc_runs_in(CUstream stream, CUresult *status);

/*
 * Takes a worker's request to run one. Called by the thread that pumps, with none of the program's
 * code. False: more at a time than there can be.
 */
bool hostfunc_called(const struct message *m);

#endif
