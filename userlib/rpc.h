/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls through the rings: many threads write records into one submission ring, and wait for their
 * completions (pump.h).
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

/* One call under way. Lives on the caller's stack until rpc_post() or rpc_wait() is back. */
struct rpc {
    struct vcuda_rec head;
    uint64_t slots[VCUDA_SLOTS_MAX]; /* right behind the head, as in the record */
    uint32_t slot_count;
    uint32_t blob_count;
    uint64_t blob_bytes; /* padded */
    struct {
        const void *data;
        uint32_t len;
    } blobs[RPC_BLOBS_MAX];
    uint32_t waiter; /* index + 1 of its place among those that wait */
    /* the answer, filled in by whoever pumps */
    uint32_t state;
    CUresult status;
    CUresult deferred; /* of a call that the same thread posted before */
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

/* The same in place, for what is called most: `c` is the thread's current context. */
static inline CUresult rpc_begin_in(struct rpc *rpc, const struct thread *t,
                                    const struct context *c, uint32_t call, bool post) {
    uint32_t fault = post && c ? vcuda_load_once(&c->sticky) : 0;

    if (unlikely(vcuda_load_once(&guest_lost)))
        return VCUDA_ERROR_LOST;
    /* The native driver refuses a launch on a faulted context at once; so does a posted one. */
    if (unlikely(fault))
        return (CUresult)fault;
    rpc->head.call = (uint16_t)call;
    rpc->head.flags = 0;
    rpc->head.tag = 0;
    /* A call that needs no context must not stumble over one that has ended. */
    rpc->head.ctx = c && !vcuda_load_acquire(&c->inactive) ? t->context : 0;
    rpc->head.status = t->number;
    rpc->head.deferred = 0;
    rpc->slot_count = rpc->blob_count = 0;
    rpc->blob_bytes = 0;
    rpc->want = NULL;
    rpc->want_cap = rpc->want_len = 0;
    return CUDA_SUCCESS;
}

static inline void rpc_slot(struct rpc *rpc, uint64_t value) {
    rpc->slots[rpc->slot_count++] = value;
}

/* `data` must live until the record is sent. */
static inline void rpc_blob(struct rpc *rpc, const void *data, uint32_t len) {
    rpc->blobs[rpc->blob_count].data = data;
    rpc->blobs[rpc->blob_count++].len = len;
    rpc->blob_bytes += VCUDA_PAD8((uint64_t)len);
}

/* Where the answer's blob goes. */
static inline void rpc_want(struct rpc *rpc, void *data, uint32_t cap) {
    rpc->want = data;
    rpc->want_cap = cap;
}

/* Sends a record that has no completion. */
CUresult rpc_post(struct rpc *rpc);
/* Sends and waits; the answer must have `outs` out slots. */
CUresult rpc_wait(struct rpc *rpc, uint32_t outs);
/* The two halves of rpc_wait, for callers with several calls under way; `only`: with no other. */
CUresult rpc_send(struct rpc *rpc, bool only);
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

/* Tells the worker that a host function has run. Any thread. */
void rpc_host_done(uint32_t place, uint32_t serial);

/* Whether the worker or the transport is gone. */
static inline bool rpc_lost(void) {
    return vcuda_load_once(&guest_lost);
}
/* In a child of fork(): no call is under way. The next thing is rpc_attach(). */
void rpc_forget(void);

#endif
