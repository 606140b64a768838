/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs of pages that another domain may reach.
 *
 * A run owns whole, zeroed, order-0 pages (nothing else of the kernel ever lies
 * in a page that a peer can write) and one grant reference for each.
 *
 * All functions may sleep. A run is not locked: one caller at a time.
 */
#ifndef VCUDA_HYPERCALL_GRANT_H
#define VCUDA_HYPERCALL_GRANT_H

#include <linux/types.h>
#include <xen/grant_table.h>

struct vcuda_grant_run {
	struct page **pages;
	grant_ref_t *refs;
	u32 count;	/* pages */
	u32 granted;	/* of these, from the first on */
};

/*
 * Allocates count pages, charged to the caller's memory cgroup, and grants them
 * to a domain. The run must be zeroed. -ENOSPC when that would exceed the
 * module's max_grant_pages (then nothing is allocated) or the grant table is
 * full, -ENOMEM, or -EINTR when the caller is being killed; the run is empty
 * then.
 */
int vcuda_grant_run_create(struct vcuda_grant_run *run, u32 count,
			   domid_t domid, bool readonly);

/*
 * Ends all access; the pages stay in the run. A page that the peer still maps
 * is given one more reference, which the grant table drops when the peer lets
 * go: it is not reused before, even when the run is freed at once. Does nothing
 * for a run without grants.
 *
 * The grant is ended first and its result honoured: never "query, then free",
 * which would race with a peer that maps in between (XSA-396).
 */
void vcuda_grant_run_end(struct vcuda_grant_run *run);

/* Ends access if need be and drops the pages. Does nothing for an empty run. */
void vcuda_grant_run_free(struct vcuda_grant_run *run);

#endif
