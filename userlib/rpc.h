/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls through the rings: many threads write records into one submission ring
 * and wait for their completions; whichever thread waits first reads the
 * completion ring for all of them (it "pumps").
 */
#ifndef VCUDA_USERLIB_RPC_H
#define VCUDA_USERLIB_RPC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cuda_types.h"
#include "guest.h"
#include "record.h"
#include "transport.h"

#define RPC_BLOBS_MAX 3
#define RPC_OUTS_MAX 8

/* One call under way. Lives on the caller's stack until rpc_end(). */
struct rpc {
    struct vcuda_rec head;
    uint64_t slots[VCUDA_SLOTS_MAX];
    uint32_t slot_count;
    uint32_t blob_count;
    struct {
        const void *data;
        uint32_t len;
    } blobs[RPC_BLOBS_MAX];
    uint32_t waiter; /* index + 1 of its place among those that wait */
    /* the answer, filled in by whoever pumps */
    uint32_t state;
    CUresult status;
    uint32_t out_count;
    uint64_t outs[RPC_OUTS_MAX];
    void *want; /* where the blob of the answer goes */
    uint32_t want_cap;
    uint32_t want_len;
    struct printed *printed; /* what kernels printed before it */
};

/* Attaches the rings of an open transport; again after the session was abandoned. */
void rpc_attach(struct transport *t, uint32_t sub_bytes, uint32_t cmp_bytes);

/* Starts a call; CUDA_SUCCESS or why nothing can be called now (lost session, faulted context). */
CUresult rpc_begin(struct rpc *rpc, struct thread *t, uint32_t call, bool post);
void rpc_slot(struct rpc *rpc, uint64_t value);
/* `data` must live until the record is sent. */
void rpc_blob(struct rpc *rpc, const void *data, uint32_t len);
/* Where the answer's blob goes. */
void rpc_want(struct rpc *rpc, void *data, uint32_t cap);

/* Sends a record that has no completion. */
CUresult rpc_post(struct rpc *rpc);
/* Sends and waits; the answer must have `outs` out slots. */
CUresult rpc_wait(struct rpc *rpc, uint32_t outs);
/* The two halves of rpc_wait, for callers with several calls under way. */
CUresult rpc_send(struct rpc *rpc);
CUresult rpc_finish(struct rpc *rpc, uint32_t outs);

/* From now on done after each waited call that succeeded; NULL: nothing. Any thread. */
void rpc_after_wait(void (*what)(void));

uint64_t rpc_out(const struct rpc *rpc, uint32_t index);
float rpc_float(const struct rpc *rpc, uint32_t index);

/* A float as a slot carries it. */
static inline uint64_t rpc_bits(float value) {
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/*
 * For the thread that runs host functions: receives for all, or waits for whoever does, until
 * rpc_stop_listening() is called or the session is lost. Returns at once if `enough`, asked after
 * the thread can be stopped.
 */
void rpc_listen(bool (*enough)(void));
/* Any thread. */
void rpc_stop_listening(void);
/* Tells the worker that a host function has run. Any thread. */
void rpc_host_done(uint32_t place, uint32_t serial);

/* Whether the worker or the transport is gone. */
bool rpc_lost(void);
/* Ends the session for this process, and all who wait. */
void rpc_abandon(const char *why);
/*
 * In a child of fork(): nobody waits any more, whoever held a lock is not here. The next thing is
 * rpc_attach().
 */
void rpc_forget(void);

#endif
