/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The clock for how long one looks: the processor's own counter. In a Xen guest
 * the system's clock may be a system call, and news that come meanwhile wait for
 * it. User space only.
 *
 * It may be off by a tenth, and jumps where a guest moves to another host: who
 * subtracts two readings must live with any result.
 */
#ifndef VCUDA_PROTOCOL_CLOCK_H
#define VCUDA_PROTOCOL_CLOCK_H

#include <linux/types.h>

/* Nanoseconds of 2^32 ticks; 0 until vcuda_clock_start(). */
extern __u64 vcuda_clock_scale;

/* Finds the counter's rate, once in a process: takes a tenth of a millisecond or little more. */
void vcuda_clock_start(void);

/* Nanoseconds since some time. */
static inline __u64 vcuda_now_ns(void)
{
	__uint128_t ticks = __builtin_ia32_rdtsc();

	return (__u64)(ticks * vcuda_clock_scale >> 32);
}

#endif
