/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * How long to look for news before sleeping for it. A wake costs tens of
 * microseconds on both sides, looking costs a processor: so look for about as
 * long as news has lately been worth looking for, between a floor and a
 * ceiling. User space only; one thread at a time for each struct.
 */
#ifndef VCUDA_PROTOCOL_SPIN_H
#define VCUDA_PROTOCOL_SPIN_H

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"

/* All in nanoseconds. */
struct vcuda_spin {
	__u64 floor;
	__u64 ceiling;
	__u64 limit; /* how long to look now */
	__u64 alone; /* after that, others may have the processor between looks */
};

#define VCUDA_SPIN_FLOOR_NS 50000u
/*
 * Whom one waits for may wait for this very processor: two of a pair are often
 * put on one. With few processors it is given away early. It costs some 0.3 us
 * between looks when nobody wants it.
 */
#define VCUDA_SPIN_ALONE_FEW_NS 2000u
#define VCUDA_SPIN_ALONE_NS VCUDA_SPIN_FLOOR_NS

/*
 * `ceiling` is for machines with processors to spare; with fewer than four
 * looking takes the time of those who compute, so that only the floor is
 * looked for, and with a single one that the peer needs too (`elsewhere` is
 * false), nothing. VCUDA_SPIN_US fixes the limit, in microseconds.
 */
static inline void vcuda_spin_init(struct vcuda_spin *s, __u64 ceiling,
				   int elsewhere)
{
	const char *fixed = getenv("VCUDA_SPIN_US");
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	vcuda_clock_start();
	s->floor = elsewhere || processors > 1 ? VCUDA_SPIN_FLOOR_NS : 0;
	s->ceiling = processors >= 4 ? ceiling : s->floor;
	if (fixed) {
		s->floor = strtoull(fixed, NULL, 10) * 1000;
		s->ceiling = s->floor;
	}
	s->limit = s->ceiling;
	s->alone = processors >= 4 || elsewhere ? VCUDA_SPIN_ALONE_NS :
						  VCUDA_SPIN_ALONE_FEW_NS;
}

/*
 * Looks for news for a microsecond or less: whether there are any. `first` is
 * for the first look of a wait: a pause takes up to 50 ns on some processors,
 * much of a call that the peer answers at once. A record's own line is to be
 * left alone: what is waited for comes with the index (vcuda_tx_tell), and its
 * writer has that line to itself. Where looking is in vain, this does not.
 */
static inline int vcuda_spin_look(const struct vcuda_spin *s,
				  int (*news)(void *arg), void *arg, int first)
{
	int i;

	if (!s->limit)
		return 0;
	for (i = 0; i < (first ? 256 : 32); i++) {
		if (news(arg))
			return 1;
		if (!first)
			__builtin_ia32_pause();
	}
	return 0;
}

/* Between looks, once one has looked for `waited`. */
static inline void vcuda_spin_rest(const struct vcuda_spin *s, __u64 waited)
{
	if (waited >= s->alone)
		sched_yield();
}

/* News came after `waited`, looked for or slept for. */
static inline void vcuda_spin_learn(struct vcuda_spin *s, __u64 waited)
{
	if (waited <= s->ceiling)
		s->limit = s->limit * 2 < s->ceiling ? s->limit * 2 :
						       s->ceiling;
	else
		s->limit = s->limit / 2 > s->floor ? s->limit / 2 : s->floor;
}

#endif
