/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cgroup (v2) for each worker, where this is possible: what a worker uses is
 * counted by the kernel, and the number of its threads is bounded. Best
 * effort: without it workers live in vcudad's own group.
 */
#ifndef VCUDAD_CGROUP_H
#define VCUDAD_CGROUP_H

/* Finds vcudad's own group and clears it of what earlier workers left. */
void cgroup_start(void);
/*
 * Makes the group of worker number n. Returns a descriptor into which the
 * worker writes "0" to join, or -1 where there are no groups.
 */
int cgroup_make(unsigned n);
/* The worker is gone. */
void cgroup_remove(unsigned n);

#endif
