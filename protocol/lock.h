/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * A lock that costs two instructions to take and two to leave while nobody else wants it, for what
 * every call goes through. Zeroed memory is a free one. Not recursive, not fair; a child of fork()
 * sets it to zero. User space only.
 */
#ifndef VCUDA_PROTOCOL_LOCK_H
#define VCUDA_PROTOCOL_LOCK_H

#include <linux/types.h>

/* 0: free; 1: taken; 2: taken, and somebody may sleep for it. */
struct vcuda_lock {
	__u32 state;
};

/* What is left to do when somebody else is there too. */
void vcuda_lock_contended(struct vcuda_lock *l);
void vcuda_lock_wake(struct vcuda_lock *l);

/* Whether it was free, and is the caller's now. */
static inline int vcuda_lock_try(struct vcuda_lock *l)
{
	__u32 free = 0;

	return __atomic_compare_exchange_n(&l->state, &free, 1, 0, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static inline void vcuda_lock_take(struct vcuda_lock *l)
{
	if (__builtin_expect(!vcuda_lock_try(l), 0))
		vcuda_lock_contended(l);
}

static inline void vcuda_lock_leave(struct vcuda_lock *l)
{
	if (__builtin_expect(__atomic_exchange_n(&l->state, 0, __ATOMIC_RELEASE) == 2, 0))
		vcuda_lock_wake(l);
}

#endif
