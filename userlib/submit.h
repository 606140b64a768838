/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The submission ring's writer. A record is put together where it will lie: its room is reserved,
 * which keeps other threads out, written, and published or dropped. Here, since every call does it.
 */
#ifndef VCUDA_USERLIB_SUBMIT_H
#define VCUDA_USERLIB_SUBMIT_H

#include <stdint.h>

#include "likely.h"
#include "lock.h"
#include "record.h"
#include "ring.h"
#include "transport.h"

struct submission {
    struct vcuda_duplex rings; /* the pump reads the other one */
    struct vcuda_lock lock;
    uint64_t over_end[VCUDA_REC_MAX / 8]; /* a record that reaches over the ring's end */
    struct transport *transport;
};

extern struct submission submission;

/* Under the lock: whether `len` bytes fit, after waiting (pump.c); not if the session is lost. */
SELDOM bool submit_await_space(uint32_t len);
/* Notifies the worker. */
SELDOM void submit_kick(void);

/*
 * Room for a record of `len` bytes, whole cache lines of VCUDA_REC_MAX at most, until
 * submit_publish() or submit_drop(). It is the worker's memory too: written only, not read.
 * NULL: the session is lost, and nothing is reserved.
 */
static inline struct vcuda_rec *submit_reserve(uint32_t len) {
    void *place;

    vcuda_lock_take(&submission.lock);
    if (unlikely(vcuda_tx_fits(&submission.rings, len) != 1) && !submit_await_space(len)) {
        vcuda_lock_leave(&submission.lock);
        return NULL;
    }
    place = vcuda_tx_place(&submission.rings, len);
    return likely(place) ? place : (void *)submission.over_end;
}

static inline void submit_put_over_end(const struct vcuda_rec *place, uint32_t len) {
    if (unlikely(place == (const void *)submission.over_end))
        vcuda_tx_put(&submission.rings, 0, place, len);
}

/* What was published is counted, and others may write. */
static inline void submit_leave(uint64_t *count) {
    vcuda_store_once(count, *count + 1);
    vcuda_lock_leave(&submission.lock);
    if (unlikely(vcuda_must_wake(&submission.rings, VCUDA_WAIT_DATA)))
        submit_kick();
}

/* Sends what was reserved, and counts it in *count, which is only written here. */
static inline void submit_publish(const struct vcuda_rec *place, uint32_t len, uint64_t *count) {
    submit_put_over_end(place, len);
    vcuda_tx_publish(&submission.rings, len);
    submit_leave(count);
}

/*
 * The same for a line of which `words`, VCUDA_NEWS_MAX bytes at most, are a call that is waited
 * for, and stand at `record` as well: the worker has them along with the index.
 */
static inline void submit_tell(const struct vcuda_rec *place, const void *record, uint32_t words,
                               uint64_t *count) {
    submit_put_over_end(place, VCUDA_CACHE_LINE);
    vcuda_tx_tell(&submission.rings, record, words);
    submit_leave(count);
}

/* Sends nothing. */
static inline void submit_drop(void) {
    vcuda_lock_leave(&submission.lock);
}

#endif
