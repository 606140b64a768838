// SPDX-License-Identifier: Apache-2.0
#include "answers.h"

#include "barrier.h"
#include "lock.h"
#include "log.h"
#include "messages.h"
#include "prints.h"
#include "sleep.h"
#include "untold.h"
#include "worker.h"

static struct vcuda_lock writing;

static bool room(struct worker *w, uint32_t len, bool wait) {
    /* Nonsense in the ring is the executor's to find, which ends the session. */
    return vcuda_tx_fits(&w->duplex, len) == 1 || (wait && worker_await_space(w, len));
}

void answers_wake(struct worker *w) {
    if (vcuda_must_wake(&w->duplex, VCUDA_WAIT_DATA))
        worker_kick(w);
}

/* Seldom: not in the body of what every answer goes through. */
static __attribute__((noinline)) bool send_all_messages(struct worker *w, bool wait) {
    const struct message *m;

    while ((m = messages_first())) {
        if (!room(w, m->len, wait))
            return false;
        vcuda_tx_put(&w->duplex, 0, m->record, m->len);
        vcuda_tx_publish(&w->duplex, m->len);
        answers_wake(w);
        messages_sent();
    }
    return true;
}

/* Under the lock, as what follows: false if something is left for want of room. */
static bool send_messages(struct worker *w, bool wait) {
    return !messages_any() || send_all_messages(w, wait);
}

/* Header and out arguments of an answer; no more of it is filled than is sent. */
struct answer {
    struct vcuda_rec head;
    uint64_t slots[FRAME_OUTS_MAX];
};

static void put(struct worker *w, const struct answer *a, const void *blob, uint32_t blob_bytes) {
    uint32_t words = (uint32_t)sizeof(a->head) / 8 + a->head.flags;

    if (8 * words <= VCUDA_NEWS_MAX && !blob_bytes) {
        /* Records are whole lines: the ring's end parts none. */
        vcuda_copy_words(vcuda_tx_place(&w->duplex, VCUDA_CACHE_LINE), a, words);
        vcuda_tx_tell(&w->duplex, a, words);
        return;
    }
    vcuda_tx_put(&w->duplex, 0, a, 8 * words);
    if (blob_bytes) /* its buffer is padded */
        vcuda_tx_put(&w->duplex, 8 * words, blob, VCUDA_PAD8(blob_bytes));
    vcuda_tx_publish(&w->duplex, a->head.len);
}

/* What kernels printed before, and what was said before, is there before the answer. */
static bool send_answer(struct worker *w, struct frame *f, bool wait) {
    struct answer a;
    uint32_t slots = f->status == CUDA_SUCCESS ? f->out_count : 0;
    uint32_t blob = slots && f->reply ? (uint32_t)f->outs[slots - 1] : 0;

    a.head = (struct vcuda_rec){
        .call = f->head.call, .tag = f->head.tag, .status = f->status, .flags = (uint16_t)slots};
    a.head.len = VCUDA_PAD_LINE((uint32_t)sizeof(a.head) + 8 * slots + VCUDA_PAD8(blob));
    prints_send();
    if (!send_messages(w, wait) || !room(w, a.head.len, wait))
        return false;
    /* A call that has an error of its own leaves the other for the next. */
    if (f->status == CUDA_SUCCESS && dispatch_table[a.head.call].telling == TELL_AFTER)
        a.head.deferred = untold_take(f->head.status);
    vcuda_copy_words(a.slots, f->outs, slots);
    put(w, &a, f->reply, blob);
    answers_wake(w);
    return true;
}

static bool answer(struct worker *w, struct frame *f, bool wait) {
    bool sent;

    vcuda_lock_take(&writing);
    sent = send_answer(w, f, wait);
    vcuda_lock_leave(&writing);
    if (sent && f->status != CUDA_SUCCESS && f->status != CUDA_ERROR_NOT_READY)
        vcuda_stats_add(&w->stats->errors, 1);
    return sent;
}

void answers_put(struct worker *w, struct frame *f) {
    if (f->head.tag) {
        answer(w, f, true);
        return;
    }
    if (f->status != CUDA_SUCCESS && f->status != CUDA_ERROR_NOT_READY) {
        vcuda_stats_add(&w->stats->errors, 1);
        /* The program hears of it by another call. */
        vcuda_log(VCUDA_LOG_DEBUG, "posted call %u: error %d", f->head.call, f->status);
    }
    untold_note(f->head.status, f->status);
}

bool answers_try(struct worker *w, struct frame *f) {
    return answer(w, f, false);
}

bool answers_have_room(struct worker *w) {
    bool have;

    vcuda_lock_take(&writing);
    have = room(w, VCUDA_REC_MAX, false);
    vcuda_lock_leave(&writing);
    return have;
}

void answers_flush(struct worker *w) {
    vcuda_lock_take(&writing);
    send_messages(w, true);
    vcuda_lock_leave(&writing);
}

static bool flush_what_fits(struct worker *w) {
    bool all;

    vcuda_lock_take(&writing);
    all = send_messages(w, false);
    vcuda_lock_leave(&writing);
    return all;
}

void answers_flush_now(struct worker *w) {
    if (flush_what_fits(w))
        return;
    sleep_asks_for_room(w);
    flush_what_fits(w);
}
