// SPDX-License-Identifier: Apache-2.0
#include "rpc.h"

#include <string.h>
#include <unistd.h>

#include "barrier.h"
#include "calls.h"
#include "capture.h"
#include "clock.h"
#include "counters.h"
#include "cuda_errors.h"
#include "printed.h"
#include "pump.h"
#include "ring.h"
#include "submit.h"

struct submission submission;
#define RINGS (&submission.rings)

uint32_t guest_lost;
uint64_t guest_changes = 1;

static void (*after_wait)(void);

void rpc_attach(struct transport *t, uint32_t sub_bytes, uint32_t cmp_bytes) {
    submission.transport = t;
    vcuda_duplex_session(RINGS, t->rings, sub_bytes, cmp_bytes, VCUDA_PARTY_G);
    pump_attach(t->elsewhere);
    /* An earlier session may have ended, or failed half-way. */
    vcuda_store_once(&guest_lost, 0);
}

void rpc_forget(void) {
    submission.lock = (struct vcuda_lock){0};
    pump_forget();
}

void submit_kick(void) {
    uint64_t one = 1;

    COUNT(notifications, 1);
    if (write(submission.transport->kick_fd, &one, sizeof(one)) < 0 && !rpc_lost()) {
        /* Only a dead session refuses; its end is seen where it is waited for. */
    }
}

CUresult rpc_begin(struct rpc *rpc, struct thread *t, uint32_t call, bool post) {
    return rpc_begin_in(rpc, t, guest_context(t), call, post);
}

/* Of head and slots, which are one, in 8 bytes. */
static uint32_t words_of(const struct rpc *rpc) {
    _Static_assert(offsetof(struct rpc, slots) == sizeof(rpc->head), "head and slots are one");
    return (uint32_t)sizeof(rpc->head) / 8 + rpc->slot_count;
}

static void put_record(uint8_t *to, const struct rpc *rpc) {
    size_t bytes = 8ul * words_of(rpc);

    vcuda_copy_words(to, rpc, words_of(rpc));
    for (uint32_t i = 0; i < rpc->blob_count; i++) {
        uint32_t len = rpc->blobs[i].len;

        to += bytes;
        memcpy(to, rpc->blobs[i].data, len);
        bytes = VCUDA_PAD8(len);
        if (bytes > len)
            memset(to + len, 0, bytes - len);
    }
}

/* `wait`: one of the two ways to become a call that waits; NULL: it is posted. */
static IN_PLACE CUresult submit(struct rpc *rpc, bool (*wait)(struct rpc *rpc)) {
    uint64_t len = sizeof(rpc->head) + 8ull * rpc->slot_count + rpc->blob_bytes;
    uint64_t *of_calls = wait ? counters.waited : counters.posted;
    struct vcuda_rec *place;

    if (len > VCUDA_REC_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    rpc->head.len = VCUDA_PAD_LINE((uint32_t)len);
    place = submit_reserve(rpc->head.len);
    if (!place)
        return VCUDA_ERROR_LOST;
    if (wait && !wait(rpc)) {
        submit_drop();
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    put_record((uint8_t *)place, rpc);
    if (wait && !rpc->blob_count && len <= VCUDA_NEWS_MAX)
        submit_tell(place, rpc, words_of(rpc), &of_calls[rpc->head.call]);
    else
        submit_publish(place, rpc->head.len, &of_calls[rpc->head.call]);
    if (!rpc_lost())
        return CUDA_SUCCESS;
    /* Who ended the session may not have seen that this call would wait. */
    if (wait)
        pump_delist(rpc);
    return VCUDA_ERROR_LOST;
}

CUresult rpc_post(struct rpc *rpc) {
    if (unlikely(capture_any()))
        return rpc_wait(rpc, 0);
    return submit(rpc, NULL);
}

CUresult rpc_send(struct rpc *rpc, bool only) {
    if (!only)
        return submit(rpc, pump_enlist);
    rpc->head.flags = VCUDA_REC_LOOKS;
    return submit(rpc, pump_claim);
}

void rpc_host_done(uint32_t place, uint32_t serial) {
    uint32_t *done = (uint32_t *)((uint8_t *)submission.transport->rings + VCUDA_HOST_DONE_OFFSET);

    vcuda_store_release(&done[place], serial);
    if (vcuda_must_wake(RINGS, VCUDA_WAIT_DATA))
        submit_kick();
}

static __attribute__((noinline)) void await_timed(struct rpc *rpc) {
    uint64_t begun = vcuda_now_ns();

    pump_await(rpc);
    COUNT(ns[rpc->head.call], vcuda_now_ns() - begun);
}

/*
 * What the driver says of one context, by a call that needs no more than that and harms no capture.
 * As of no thread of the program: whose posted call failed hears of that by a call of its own.
 */
static CUresult ask_context(uint64_t context) {
    struct rpc rpc = {.head = {.call = VCUDA_CALL_cuMemGetInfo_v2, .ctx = context}};
    CUresult r = submit(&rpc, pump_enlist);

    if (r != CUDA_SUCCESS)
        return r;
    pump_await(&rpc);
    if (rpc.printed)
        printed_write(rpc.printed);
    return rpc.status;
}

/*
 * A call made in this context told of a fault: it may be another's, whose stream or event the call
 * was about, and then this one works on.
 */
static SELDOM void note_fault(uint64_t context) {
    struct context *c = names_get(VCUDA_KIND_CONTEXT, context);
    CUresult r = c && !vcuda_load_once(&c->sticky) ? ask_context(context) : CUDA_SUCCESS;

    /* Anew: another thread may have ended it meanwhile. */
    c = names_get(VCUDA_KIND_CONTEXT, context);
    if (c && cuda_error_is_sticky(r))
        vcuda_store_once(&c->sticky, (uint32_t)r);
}

CUresult rpc_finish(struct rpc *rpc, uint32_t outs) {
    void (*after)(void);
    CUresult r;

    if (counters_each)
        await_timed(rpc);
    else
        pump_await(rpc);
    if (rpc->printed)
        printed_write(rpc->printed);
    r = rpc->status;
    if (r == CUDA_SUCCESS && rpc->out_count < outs) {
        pump_abandon("the worker's answer is too short");
        r = VCUDA_ERROR_LOST;
    }
    if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_READY)
        guest_log("call %u: error %d", rpc->head.call, r);
    if (unlikely(cuda_error_is_sticky(r)))
        note_fault(rpc->head.ctx);
    /* Of a call that this thread posted. */
    if (r == CUDA_SUCCESS && rpc->deferred)
        r = rpc->deferred;
    after = vcuda_load_acquire(&after_wait);
    if (r == CUDA_SUCCESS && after)
        after();
    return r;
}

void rpc_after_wait(void (*what)(void)) {
    vcuda_store_release(&after_wait, what);
}

CUresult rpc_wait(struct rpc *rpc, uint32_t outs) {
    CUresult r;

    /* Only how it ended is of interest, which the GPU can tell as well. */
    r = outs ? submit(rpc, pump_claim) : rpc_send(rpc, true);
    return r == CUDA_SUCCESS ? rpc_finish(rpc, outs) : r;
}

uint64_t rpc_out(const struct rpc *rpc, uint32_t index) {
    return rpc->outs[index];
}

float rpc_float(const struct rpc *rpc, uint32_t index) {
    uint32_t bits = (uint32_t)rpc->outs[index];
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}
