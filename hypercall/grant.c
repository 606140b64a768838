// SPDX-License-Identifier: GPL-2.0
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "grant.h"

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

/*
 * A guest has one grant table for all its devices: 32768 entries by default. A
 * disk or network card that finds it full does not come up, so a part is left
 * to them whatever programs ask of vcuda.
 */
static unsigned int max_grant_pages;
module_param(max_grant_pages, uint, 0644);
MODULE_PARM_DESC(max_grant_pages,
		 "Most pages granted at a time, over all programs (0: three quarters of the grant table)");

/*
 * Entries of the guest's one table that our runs hold. Those whose page the
 * backend did not let go are not counted: they are the grant table's, which
 * tells nobody when it frees them, and are bounded by its size.
 */
static atomic_t grants_used = ATOMIC_INIT(0);

/* Work that is done between two chances for others to run. */
#define GRANT_BATCH 1024u

static unsigned int budget_limit(void)
{
	unsigned int limit = READ_ONCE(max_grant_pages);
	unsigned int table = gnttab_max_grant_frames() *
			     (XEN_PAGE_SIZE / sizeof(struct grant_entry_v1));

	return limit ?: table - table / 4;
}

static int budget_take(u32 count)
{
	unsigned int limit = budget_limit();
	int used = atomic_read(&grants_used);

	do {
		if (used > limit || count > limit - used)
			return -ENOSPC;
	} while (!atomic_try_cmpxchg(&grants_used, &used, used + count));
	return 0;
}

static void budget_return(u32 count)
{
	atomic_sub(count, &grants_used);
}

static int run_alloc(struct vcuda_grant_run *run, u32 count)
{
	/* A program that asks for too much gets an error, not the OOM killer. */
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN |
		    __GFP_RETRY_MAYFAIL;

	run->pages = kvcalloc(count, sizeof(*run->pages), GFP_KERNEL_ACCOUNT);
	run->refs = kvcalloc(count, sizeof(*run->refs), GFP_KERNEL_ACCOUNT);
	if (!run->pages || !run->refs)
		return -ENOMEM;
	while (run->count < count) {
		u32 batch = min(count - run->count, GRANT_BATCH);
		unsigned long got;

		got = alloc_pages_bulk_array(gfp, batch,
					     run->pages + run->count);
		if (!got)
			return -ENOMEM;
		run->count += got;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static int grant_batch(struct vcuda_grant_run *run, domid_t domid, u32 count,
		       bool readonly)
{
	grant_ref_t head;
	int err = gnttab_alloc_grant_references(count, &head);

	if (err)
		return err;
	while (count--) {
		grant_ref_t ref = gnttab_claim_grant_reference(&head);

		gnttab_page_grant_foreign_access_ref_one(ref, domid,
							 run->pages[run->granted],
							 readonly);
		run->refs[run->granted++] = ref;
	}
	return 0;
}

static int run_grant(struct vcuda_grant_run *run, domid_t domid, bool readonly)
{
	while (run->granted < run->count) {
		u32 left = run->count - run->granted;
		int err;

		err = grant_batch(run, domid, min(left, GRANT_BATCH), readonly);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

int vcuda_grant_run_create(struct vcuda_grant_run *run, u32 count,
			   domid_t domid, bool readonly)
{
	/* First, so that what is refused takes no memory. */
	int err = budget_take(count);

	if (err)
		return err;
	err = run_alloc(run, count);
	if (!err)
		err = run_grant(run, domid, readonly);
	if (err) {
		/* The end of the others returns their part. */
		budget_return(count - run->granted);
		vcuda_grant_run_free(run);
	}
	return err;
}

void vcuda_grant_run_end(struct vcuda_grant_run *run)
{
	u32 kept = 0;
	u32 i;

	for (i = 0; i < run->granted; i++) {
		if (!gnttab_try_end_foreign_access(run->refs[i])) {
			get_page(run->pages[i]);
			gnttab_end_foreign_access(run->refs[i], run->pages[i]);
			kept++;
		}
		if (i % GRANT_BATCH == GRANT_BATCH - 1)
			cond_resched();
	}
	if (kept)
		pr_warn_ratelimited("%u of %u pages are still mapped by the backend, kept until it lets go\n",
				    kept, run->granted);
	budget_return(run->granted);
	run->granted = 0;
}

void vcuda_grant_run_free(struct vcuda_grant_run *run)
{
	u32 i;

	vcuda_grant_run_end(run);
	for (i = 0; i < run->count; i++) {
		put_page(run->pages[i]);
		if (i % GRANT_BATCH == GRANT_BATCH - 1)
			cond_resched();
	}
	kvfree(run->pages);
	kvfree(run->refs);
	memset(run, 0, sizeof(*run));
}
