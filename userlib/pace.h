/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many helpers copies of one kind should have: found out by trying, again and again, since it
 * depends on who else is busy. With a machine to itself a program copies three times as fast by
 * four threads; where more threads than processors want to run, whoever waits for a helper that
 * lost its processor is slower than alone.
 */
#ifndef VCUDA_USERLIB_PACE_H
#define VCUDA_USERLIB_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Of copies that may have so many helpers; all zero to begin with. One user at a time. */
struct pace {
    uint32_t spared; /* helpers that they could have and are not worth it */
    uint32_t copies; /* since the phase began */
    bool trial;      /* with one helper less or more than usual */
    bool fewer;
    uint64_t bytes, ns; /* of the phase, without what settles at its start */
    double usual;       /* bytes a nanosecond */
};

/* The next copy's helpers; most: as many as it could have, the same in each call for one pace. */
uint32_t pace_helpers(const struct pace *p, uint32_t most);

/* What that copy took. */
void pace_learn(struct pace *p, uint32_t most, uint64_t bytes, uint64_t ns);

#endif
