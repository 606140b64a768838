// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
#include "clock.h"

#include <time.h>

/*
 * How long the two clocks are compared at least, and how many times as long as
 * it takes to read the system's.
 */
#define MEASURED_NS 100000u
#define MEASURED_READINGS 20u
#define TRIES 5

__u64 vcuda_clock_scale;

static __u64 system_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (__u64)ts.tv_sec * 1000000000u + (__u64)ts.tv_nsec;
}

/* Both clocks at one time. */
struct reading {
	__u64 ticks;
	__u64 ns;
	__u64 took; /* ticks: how far apart they may be */
};

/* The best of some tries: a thread that lost its processor meanwhile took long. */
static struct reading read_both(void)
{
	struct reading best = { 0 };
	int i;

	for (i = 0; i < TRIES; i++) {
		__u64 before = __builtin_ia32_rdtsc();
		__u64 ns = system_ns();
		__u64 took = __builtin_ia32_rdtsc() - before;

		if (!i || took < best.took) {
			best.ticks = before + took / 2;
			best.ns = ns;
			best.took = took;
		}
	}
	return best;
}

void vcuda_clock_start(void)
{
	struct reading begun, now;
	__u64 ticks;

	if (vcuda_clock_scale)
		return;
	begun = read_both();
	do {
		now = read_both();
		ticks = now.ticks - begun.ticks;
	} while (now.ns - begun.ns < MEASURED_NS ||
		 ticks < MEASURED_READINGS * begun.took);
	vcuda_clock_scale = (__u64)(((__uint128_t)(now.ns - begun.ns) << 32) /
				    (ticks ? ticks : 1));
}
