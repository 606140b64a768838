/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the program that the driver calls: host functions in streams
 * and graphs, stream callbacks, destructors of user objects. The program's
 * library names each by a number (userlib/hostfunc.h), which goes to the driver
 * as the argument of one of the functions here. When the driver calls that, the
 * program is told the number and runs its function on a thread of its own.
 *
 *     driver.cuLaunchHostFunc(stream, hostfunc_once, hostfunc_arg(id));
 *
 * A number is only carried: what it means, and whether it means anything, is
 * the program's affair.
 */
#ifndef VCUDA_WORKER_HOSTFUNC_H
#define VCUDA_WORKER_HOSTFUNC_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_types.h"

struct worker;

/* The argument for the driver, for a number of the guest's. */
static inline void *hostfunc_arg(uint64_t id) {
    return (void *)(uintptr_t)id;
}

/* Back again, e.g. from the parameters of a node that was copied. */
static inline uint64_t hostfunc_id(const void *arg) {
    return (uint64_t)(uintptr_t)arg;
}

/* Returns when the function has run, or the session is over. The number is then free. */
void hostfunc_once(void *arg);
/* The same for what may be called again: the host nodes of graphs. */
void hostfunc_again(void *arg);
/* The same as a CUstreamCallback; the program is told `status`. */
void hostfunc_callback(CUstream stream, CUresult status, void *arg);
/* Does not wait, so that the driver may call it on any thread: the destructor of a user object. */
void hostfunc_tell(void *arg);

/* The same as a CUasyncCallback: what a device has to say. */
void hostfunc_notify(CUasyncNotificationInfo *info, void *arg, CUasyncCallbackHandle handle);

/* Before any function is given to the driver. */
void hostfunc_start(struct worker *w);
/* Lets those go that the program has run. Executor, whenever it is awake; cheap. */
void hostfunc_look(void);
/* Whether there are such. */
bool hostfunc_any_done(void);

#endif
