// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
#include "lock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What is done under a lock takes less than a sleep and a wake. */
#define LOOKS 100

void vcuda_lock_contended(struct vcuda_lock *l)
{
	for (int i = 0; i < LOOKS; i++) {
		__u32 free = 0;

		if (!__atomic_load_n(&l->state, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&l->state, &free, 1, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return;
		__builtin_ia32_pause();
	}
	while (__atomic_exchange_n(&l->state, 2, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &l->state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void vcuda_lock_wake(struct vcuda_lock *l)
{
	syscall(SYS_futex, &l->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
