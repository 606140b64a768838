// SPDX-License-Identifier: Apache-2.0
/* The executor: takes records in order, and makes the calls. */
#include <stdlib.h>
#include <unistd.h>

#include "answers.h"
#include "bundle.h"
#include "chains.h"
#include "hostfunc.h"
#include "idle.h"
#include "log.h"
#include "messages.h"
#include "shared.h"
#include "sleep.h"
#include "spin.h"
#include "told.h"
#include "untold.h"
#include "worker.h"

/* How long the executor looks for the next record before it sleeps, at most. */
#define LOOK_NS 1000000u
/* The same while a waiter thread makes a call: whoever waits for that calls again when it ends. */
#define LOOK_ALONG_NS 10000000u
/* Records taken before pending answers are looked after. */
#define BURST 16
/* How often a call that finds no memory is made again, since another program's came free. */
#define TRIES 8
/* Bytes: most records are shorter, and what is asked for too early is lost again. */
#define FETCH_AHEAD 256u

static __thread uint64_t context_now;
static __thread uint32_t ended_then; /* contexts, when it was looked up */
static struct vcuda_spin looking;
static uint8_t *record;

/* Ends the session for a guest that broke the protocol. */
static void cut_off(struct worker *w, const char *why) {
    if (!w->over)
        vcuda_log(VCUDA_LOG_WARNING, "session %lu: cut off: %s",
                  (unsigned long)vcuda_stats_get(&w->stats->session), why);
    w->over = true;
}

void worker_forget_context(void) {
    context_now = 0;
}

CUresult worker_use_context(struct worker *w, uint64_t name) {
    uint32_t ended = objects_ended(&w->objects, VCUDA_KIND_CONTEXT);
    struct object c;
    CUresult r = CUDA_SUCCESS;

    if (!name || (name == context_now && ended == ended_then))
        return CUDA_SUCCESS;
    /* The library names only those that it has made: another of its threads was faster. */
    if (!objects_get(&w->objects, VCUDA_KIND_CONTEXT, name, &c))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (name != context_now)
        r = w->driver.cuCtxSetCurrent(c.native);
    context_now = r == CUDA_SUCCESS ? name : 0;
    ended_then = ended;
    return r;
}

void worker_kick(struct worker *w) {
    uint64_t one = 1;

    vcuda_stats_add(&w->stats->notifications_sent, 1);
    if (write(w->link.kick_fd, &one, sizeof(one)) != sizeof(one))
        return; /* the counter is full, so the program has news; or it is gone, seen by sleep_for */
}

static bool no_record(struct worker *w) {
    return vcuda_rx_ready(&w->duplex) == 0;
}

static bool nothing_to_do(struct worker *w) {
    return no_record(w) && !messages_any() && !hostfunc_any_done() && !waiters_any_left();
}

static bool completion_does_not_fit(struct worker *w) {
    return vcuda_tx_fits(&w->duplex, VCUDA_REC_MAX) == 0;
}

/* The program must read for that: sleeps until it does. */
bool worker_await_space(struct worker *w, uint32_t len) {
    while (!w->over) {
        int fits = vcuda_tx_fits(&w->duplex, len);

        if (fits == 1)
            return true;
        if (fits < 0)
            cut_off(w, "its completion ring's index is nonsense");
        else
            sleep_for(w, VCUDA_WAIT_SPACE, completion_does_not_fit, -1);
    }
    return false;
}

static void refuse(struct worker *w, const struct vcuda_rec *head, CUresult status) {
    struct frame f = {.head = *head, .status = status};

    answers_put(w, &f);
}

static bool sleeps(struct worker *w, const struct vcuda_rec *head, enum blocking blocks) {
    return blocks == BLOCKS_ALWAYS || (blocks == BLOCKS_WHILE_BUSY && !idle_now(w, head->ctx));
}

/* All other calls come after what is held. */
static bool may_be_held(const struct vcuda_rec *head) {
    return head->call == VCUDA_CALL_launch && !head->tag;
}

/* Whether the caller hears of the error of a call that it posted before, in place of this one. */
static bool tells_another(struct worker *w, const struct vcuda_rec *head,
                          const struct dispatch *d) {
    CUresult untold = CUDA_SUCCESS;

    if (head->tag && d->telling == TELL_INSTEAD)
        untold = untold_take(head->status);
    if (untold != CUDA_SUCCESS)
        refuse(w, head, untold);
    return untold != CUDA_SUCCESS;
}

bool worker_may_try_again(int tries) {
    return tries <= TRIES && shared_await_endings();
}

CUresult worker_run_call(struct worker *w, struct frame *f) {
    const struct dispatch *d = &dispatch_table[f->head.call];
    CUresult r = worker_use_context(w, f->head.ctx);

    if (!d->asks && !d->still)
        told_stream_used(d->stream ? frame_slot(f, d->stream - 1u) : 0);
    if (r == CUDA_SUCCESS)
        r = d->run(w, f);
    /* A native program has ended only once what it had is free. */
    for (int i = 1; r == CUDA_ERROR_OUT_OF_MEMORY && worker_may_try_again(i); i++) {
        frame_again(f, d->slots);
        r = d->run(w, f);
    }
    return r;
}

static void make_call(struct worker *w, struct frame *f) {
    f->status = worker_run_call(w, f);
    if (f->status != CUDA_SUCCESS) /* errors of what was held come first */
        bundle_make(w);
    if (f->pending && f->status == CUDA_SUCCESS)
        pending_add(w, f);
    else
        answers_put(w, f);
    frame_close(f);
}

/* One record, `len` bytes in `record`. */
static void execute(struct worker *w, uint32_t len) {
    const struct vcuda_rec *head = (const struct vcuda_rec *)record;
    const struct dispatch *d = head->call < VCUDA_CALLS ? &dispatch_table[head->call] : NULL;
    struct frame f;

    vcuda_stats_count(&w->stats->calls);
    vcuda_stats_count(head->tag ? &w->stats->waited : &w->stats->posted);
    vcuda_stats_set(&w->stats->last_call, head->call);
    if (!d || !d->run) {
        cut_off(w, "it asked for a call that does not exist");
        return;
    }
    if (!frame_open(&f, record, len, d->slots) || (!head->tag && !d->may_post)) {
        cut_off(w, "it sent a malformed record");
        return;
    }
    idle_note(d, &f);
    if (!may_be_held(head))
        bundle_make(w);
    capture_drop_ended(w);
    if (tells_another(w, head, d))
        return;
    if (sleeps(w, head, d->blocks)) {
        if (!waiters_run(w, record, len))
            refuse(w, head, CUDA_ERROR_OUT_OF_MEMORY);
        return;
    }
    make_call(w, &f);
}

/* While a call is made, what follows it comes over from the program's processor. */
static void fetch_ahead(const struct vcuda_duplex *d) {
    uint32_t there = d->rx_seen - d->cons;

    for (uint32_t at = 0; at < there && at < FETCH_AHEAD; at += VCUDA_CACHE_LINE)
        __builtin_prefetch(d->rx + ((d->cons + at) & (d->rx_size - 1)));
}

/* Takes up to BURST records: whether there was any. */
static bool execute_some(struct worker *w) {
    int taken = 0;

    while (taken < BURST && !w->over) {
        int len = vcuda_rx_take(&w->duplex, record, VCUDA_REC_MAX, sizeof(struct vcuda_rec));

        if (len < 0)
            cut_off(w, "its submission ring is nonsense");
        if (len <= 0)
            break;
        taken++;
        fetch_ahead(&w->duplex);
        execute(w, (uint32_t)len);
    }
    bundle_make(w);
    if (taken && vcuda_must_wake(&w->duplex, VCUDA_WAIT_SPACE))
        worker_kick(w);
    return taken != 0;
}

static int record_there(void *w) {
    return !no_record(w);
}

/* With processors to spare a native program's thread looks as long. */
static uint64_t look_limit(void) {
    bool along = looking.ceiling > looking.floor && waiters_working();

    return along && looking.limit < LOOK_ALONG_NS ? LOOK_ALONG_NS : looking.limit;
}

/*
 * Looks for the next record, and sleeps if there is none for long. *since is when the first look
 * found none; 0: there was none yet, and nobody need look at the clock.
 */
static void await_record(struct worker *w, uint64_t *since) {
    int64_t pause = pending_pause();
    uint64_t now;

    /* While the GPU is asked without a pause, that is look enough. */
    if (pause && vcuda_spin_look(&looking, record_there, w, !*since))
        return;
    idle_looked();
    bundle_begin();
    now = vcuda_now_ns();
    if (!*since)
        *since = now;
    if (pause && now - *since >= look_limit())
        sleep_for(w, VCUDA_WAIT_DATA, nothing_to_do, pause);
    else
        vcuda_spin_rest(&looking, now - *since);
}

/* What else there is to do between records. */
static void look_around(struct worker *w) {
    waiters_collect(w);
    hostfunc_look();
    if (messages_any())
        answers_flush(w);
    if (pending_any())
        pending_poll(w);
}

/* There was a record: what that says of how long to look for one. */
static void learn(uint64_t *since) {
    uint64_t waited;

    if (!*since)
        return;
    waited = vcuda_now_ns() - *since;
    if (waited > looking.floor)
        vcuda_spin_learn(&looking, waited);
    *since = 0;
}

int worker_serve(struct worker *w) {
    uint64_t since = 0;

    record = malloc(VCUDA_REC_MAX);
    if (!record)
        return 1;
    waiters_start(w);
    vcuda_spin_init(&looking, LOOK_NS, w->link.elsewhere);
    vcuda_duplex_session(&w->duplex, w->link.rings, w->link.sub_bytes, w->link.cmp_bytes,
                         VCUDA_PARTY_H);
    pending_start(w);
    chains_start();
    hostfunc_start(w);
    while (!w->over) {
        /* First of all, since the last look may have found one. */
        bool any = execute_some(w);

        look_around(w);
        if (any)
            learn(&since);
        else
            await_record(w, &since);
    }
    return 0;
}
