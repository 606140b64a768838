/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workers: some start, some are ready, each of the others serves a session.
 *
 *             READY             SESSION            exit
 *   STARTING ------> IDLE -----------------> SERVING ------> gone
 *      |              |
 *      | FAILED, exit, too slow              more are idle than wanted
 *      v              v
 *   back-off: 1 s,  RETIRED ------> gone
 *   2 s ... 30 s
 *
 * Wanted are --warm, one for each request that waits, and some more (--burst)
 * after requests had to wait.
 *
 * Requests wait in line for the next idle worker, in order. While the driver
 * does not load and no worker is on its way, they are refused with -ENODEV.
 */
#ifndef VCUDAD_POOL_H
#define VCUDAD_POOL_H

#include "loop.h"
#include "options.h"
#include "request.h"
#include "spawn.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum worker_state { STARTING, IDLE, SERVING, RETIRED };

struct worker {
    struct loop_source source; /* spawned.sock */
    struct pool *pool;
    struct spawned spawned;
    unsigned number; /* never used twice by one vcudad */
    enum worker_state state;
    bool failed;       /* has told why it cannot serve */
    time_t since;      /* when it began to serve */
    uint64_t deadline; /* is killed then (loop_now()); 0: never */
    uint64_t awaited;  /* others wait for its end until then (loop_now()); 0: none has yet */
    struct vcuda_supervise_session session;
    struct owner *owner; /* whose session it is; NULL before */
    struct worker *next;
};

struct pool {
    const struct options *options;
    const char *drop; /* argument for the workers, or NULL */
    struct worker *workers;
    struct request *queue;
    unsigned last_number;
    bool stopping;

    uint32_t driver_version; /* of the last worker that was ready; 0: none yet */
    uint32_t devices;
    char failure[VCUDA_SUPERVISE_TEXT_MAX]; /* why the last worker did not get ready; or "" */
    uint64_t backoff;                       /* ms; 0: nothing has failed lately */
    struct loop_timer retry;
    struct loop_timer watchdog;

    unsigned more; /* workers to be kept ready besides --warm, since programs had to wait */
    struct loop_timer calm;
};

void pool_start(struct pool *pool, const struct options *options);

/* Takes the request; may give or refuse it before it returns. */
void pool_submit(struct pool *pool, struct request *request);
/* Gives a waiting request back to its owner: false if it does not wait (any more). */
bool pool_cancel(struct pool *pool, const struct request *request);
/* The waiting request of a guest's session, or NULL. */
struct request *pool_waiting(const struct pool *pool, uint32_t domid, uint32_t session);
/* A guest's session has ended: its worker gets a moment to end by itself. */
void pool_session_gone(struct pool *pool, uint32_t domid, uint32_t session);

unsigned pool_count(const struct pool *pool, enum worker_state state);
/*
 * Workers that end, and may hold memory still: of programs that have ended, or of those kept ready
 * for a burst of programs, which is over when somebody asks.
 */
unsigned pool_ending(struct pool *pool);
/* Local sessions of a user, waiting ones included. */
unsigned pool_sessions_of(const struct pool *pool, uint32_t uid);

/* SIGCHLD. */
void pool_reap(struct pool *pool);
/* SIGHUP: tries the driver again now. */
void pool_retry(struct pool *pool);
/* Ends all workers and then the loop; called again, without patience. */
void pool_stop(struct pool *pool);
/* SIGUSR1. */
void pool_log(const struct pool *pool);

#endif
