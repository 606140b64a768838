/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The few memory-ordering primitives the rings need, under one name in the
 * kernel and outside.
 *
 * The kernel side uses the virt_*() forms: the peer may run on another
 * processor even when this kernel was built, or booted, for one.
 */
#ifndef VCUDA_PROTOCOL_BARRIER_H
#define VCUDA_PROTOCOL_BARRIER_H

#ifdef __KERNEL__
#include <asm/barrier.h>
#include <linux/atomic.h>

#define vcuda_load_acquire(p) virt_load_acquire(p)
#define vcuda_store_release(p, v) virt_store_release(p, v)
#define vcuda_load_once(p) READ_ONCE(*(p))
#define vcuda_store_once(p, v) WRITE_ONCE(*(p), v)
#define vcuda_full_barrier() virt_mb()
#define vcuda_write_barrier() virt_wmb()
#define vcuda_read_barrier() virt_rmb()
#define vcuda_exchange(p, v) xchg(p, v)
#else
#define vcuda_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define vcuda_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define vcuda_load_once(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define vcuda_store_once(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define vcuda_full_barrier() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define vcuda_write_barrier() __atomic_thread_fence(__ATOMIC_RELEASE)
#define vcuda_read_barrier() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define vcuda_exchange(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#endif

/* Nothing for the processor: what stands before and after stays apart. */
static inline void vcuda_compiler_barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

#endif
