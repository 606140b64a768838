// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
#include "clock.h"

#include <time.h>

/* Long enough for a reading of the system's clock to matter little. */
#define MEASURED_NS 100000u

__u64 vcuda_clock_scale;

static __u64 system_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (__u64)ts.tv_sec * 1000000000u + (__u64)ts.tv_nsec;
}

void vcuda_clock_start(void)
{
	__u64 begun, ticks, ns;

	if (vcuda_clock_scale)
		return;
	system_ns(); /* the first reading takes longer */
	begun = system_ns();
	ticks = __builtin_ia32_rdtsc();
	do
		ns = system_ns() - begun;
	while (ns < MEASURED_NS);
	ticks = __builtin_ia32_rdtsc() - ticks;
	vcuda_clock_scale = (__u64)(((__uint128_t)ns << 32) /
				    (ticks ? ticks : 1));
}
