/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for the worker. Whichever thread waits first reads the completion ring for all: it is the
 * pump, gives each completion to the call that waits for it, and sleeps for all. The others look
 * for their answer for a while, and sleep on a futex; when the pump has its own, another one goes
 * on. The same thread waits for room in the submission ring (submit.h).
 */
#ifndef VCUDA_USERLIB_PUMP_H
#define VCUDA_USERLIB_PUMP_H

#include <stdbool.h>

struct rpc;

/* The rings are a new session's; `elsewhere` as in transport.h. */
void pump_attach(bool elsewhere);
/* In a child of fork(): nobody waits any more, whoever held a lock is not here. */
void pump_forget(void);

/* A call will wait: it has a place and a tag then. False: too many do. */
bool pump_enlist(struct rpc *rpc);
/*
 * The same for a call for which this thread waits as soon as it is sent. If nobody pumps, it is the
 * pump from now on: nobody else has to do with the call, and it needs no lock.
 */
bool pump_claim(struct rpc *rpc);
/* It could not be sent. */
void pump_delist(struct rpc *rpc);
/* Until it is answered, or the session lost, which is an answer as well. */
void pump_await(struct rpc *rpc);

/*
 * For the thread that runs host functions: receives for all, or waits for whoever does, until
 * pump_stop_listening() is called or the session is lost. Returns at once if `enough`, asked after
 * the thread can be stopped.
 */
void pump_listen(bool (*enough)(void));
/* Any thread. */
void pump_stop_listening(void);

/* Ends the session for this process, and all who wait. Any thread. */
void pump_abandon(const char *why);

#endif
