/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that costs two instructions to take and two to leave while nobody else wants it, for what
 * every call goes through. Zeroed memory is a free one. Not recursive, not fair; a child of fork()
 * sets it to zero.
 */
#ifndef VCUDA_USERLIB_LOCK_H
#define VCUDA_USERLIB_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "likely.h"

/* 0: free; 1: taken; 2: taken, and somebody may sleep for it. */
struct lock {
    uint32_t state;
};

/* What is left to do when somebody else is there too. */
SELDOM void lock_contended(struct lock *l);
SELDOM void lock_wake(struct lock *l);

static inline void lock_take(struct lock *l) {
    uint32_t free = 0;

    if (unlikely(!__atomic_compare_exchange_n(&l->state, &free, 1, false, __ATOMIC_ACQUIRE,
                                              __ATOMIC_RELAXED)))
        lock_contended(l);
}

static inline void lock_leave(struct lock *l) {
    if (unlikely(__atomic_exchange_n(&l->state, 0, __ATOMIC_RELEASE) == 2))
        lock_wake(l);
}

#endif
