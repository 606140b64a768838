/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker: serves one guest process.
 *
 * One thread, the executor, reads records in order and makes the calls
 * (serve.c). Calls that may sleep in the driver go to waiter threads
 * (waiters.c). Launches go to the driver several at a time, where that costs it
 * less (bundle.c). What waits for the GPU is an event that the executor polls
 * (pending.c). Each answers for itself (answers.c).
 */
#ifndef VCUDA_WORKER_WORKER_H
#define VCUDA_WORKER_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "dispatch.h"
#include "driver.h"
#include "frame.h"
#include "info.h"
#include "layout.h"
#include "link.h"
#include "objects.h"
#include "ring.h"
#include "stats.h"

struct region {
    uint64_t address;
    uint64_t bytes;
    bool registered; /* with the driver: copies are DMA, kernels may use it */
    bool ending;     /* no use of it begins any more */
};

struct worker {
    struct driver driver;
    int driver_version;
    struct link link;
    struct vcuda_duplex duplex;
    struct vcuda_stats *stats;
    struct objects objects;
    int gpus[VCUDA_DEVICES_MAX]; /* the guest's device i is the driver's gpus[i] */
    int gpu_count;
    uint32_t selected;                        /* 1: the guest has chosen among them */
    struct region regions[VCUDA_REGIONS_MAX]; /* by number; [0] is unused */
    pthread_mutex_t regions_lock;
    CUcontext base; /* the first device's primary context: made ahead, keeps regions registered */
    uint32_t holds[VCUDA_DEVICES_MAX]; /* ours on each primary context, for the guest */
    bool over;                         /* the session has ended: stop serving */
};

/* Serves until the session ends. Returns the exit status of the process. */
int worker_serve(struct worker *w);

/* Makes device 0's primary context, in `base`, and has the driver ready for programs. */
void worker_warm(struct worker *w);
/* Once the session's devices are known: what was made ahead for another device goes. */
void worker_warm_for(struct worker *w);

/* Ends the process soon after its program, whatever the executor does: false if it cannot. */
bool worker_watch(struct worker *w);

/* Makes a call, whose answer it fills in but for its status. Any thread. */
CUresult worker_run_call(struct worker *w, struct frame *f);

/* Whether a call that found no memory is to be made again, once `tries` were made. May sleep. */
bool worker_may_try_again(int tries);

/* Makes the context of a name current for this thread. 0 changes nothing. */
CUresult worker_use_context(struct worker *w, uint64_t name);
/* Forgets what this thread believes to be current. */
void worker_forget_context(void);

/* The driver's device for the guest's, or CUDA_ERROR_INVALID_DEVICE. */
CUresult worker_device(const struct worker *w, int guest_device, CUdevice *device);

/* The guest's number for the driver's device; -1: none of the guest's. */
int worker_guest_device(const struct worker *w, CUdevice device);
/* Puts the driver's device into a place that names one of the guest's; one that is none stays one.
 */
void worker_location(const struct worker *w, CUmemLocation *location);
/* The same for a list of access descriptions in a record; the caller frees *list. */
CUresult worker_access(const struct worker *w, const void *blob, uint32_t bytes,
                       CUmemAccessDesc **list, size_t *count);

/* Whether all of [address, address + bytes) lies in one mapped region. */
bool regions_hold(struct worker *w, uint64_t address, uint64_t bytes);
/* Registers what is not yet registered, once a context exists. Any thread. */
void regions_register(struct worker *w);
/* The base context is gone or reset: registrations with it. */
void regions_unregistered(struct worker *w);

/* Room for a record in the completion ring; false: the session is over. Executor only. */
bool worker_await_space(struct worker *w, uint32_t len);
/* Wakes the program, which sleeps for what was just done in the rings. Any thread. */
void worker_kick(struct worker *w);

/*
 * Puts off a frame's answer until what `stream` holds now is done. `at_work`: it surely holds
 * something, which the call itself has given it. Executor only.
 */
CUresult pending_stream(struct worker *w, struct frame *f, CUstream stream, uint64_t stream_name,
                        bool at_work);
/* ... until an event of the guest's is. */
CUresult pending_event(struct frame *f, CUevent event);
/* Adds a frame that was put off. */
void pending_add(struct worker *w, struct frame *f);
/* Answers those that are done. */
void pending_poll(struct worker *w);
bool pending_any(void);
/* For how many ns nothing need be polled: -1, none is pending. */
int64_t pending_pause(void);
/* Once, at the start. */
void pending_start(struct worker *w);
/* Ends an event of the guest's, at once or when nobody waits for it any more. Executor only. */
CUresult pending_destroy(struct worker *w, CUevent event);
/* Forgets the events kept for a context that ended. Any thread. */
void pending_forget_context(uint64_t context);

/*
 * What waiting for a stream says while it is captured, or the default stream waits for one that is:
 * the error of that, which ends the capture; else CUDA_SUCCESS. Executor only.
 */
CUresult capture_refuses(struct worker *w, CUstream stream);
/* Whether there may be any capture. */
bool capture_any(void);
/* Ends captures whose streams have ended, by whatever thread. Executor only. */
void capture_drop_ended(struct worker *w);

/* Once, at the start. */
void waiters_start(struct worker *w);
/* Makes a record's call on a waiter thread. Executor only; false: no memory or thread. */
bool waiters_run(struct worker *w, const void *record, uint32_t len);
/* Answers what waiter threads have finished and the ring had no room for. Executor only. */
void waiters_collect(struct worker *w);
/* Whether there is any of that. Any thread. */
bool waiters_any_left(void);
/* Whether a waiter thread makes a call, or is to. Any thread. */
bool waiters_working(void);

#endif
