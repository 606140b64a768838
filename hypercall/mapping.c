// SPDX-License-Identifier: GPL-2.0
/* The kernel's handles of a mapping, and its end. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <xen/page.h>

#include "mapping_internal.h"

#define UNMAP_RETRY_MS 5
#define UNMAP_RETRY_MS_MAX 500

/* Room for one hypercall, allocated early: an unmapping must not fail for it. */
struct vcuda_mapping_batch {
	union {
		struct gnttab_map_grant_ref map[VCUDA_MAPPING_CHUNK];
		struct gnttab_unmap_grant_ref unmap[VCUDA_MAPPING_CHUNK];
	};
	u32 index[VCUDA_MAPPING_CHUNK]; /* unmap: the page of each operation */
	struct page *pages[VCUDA_MAPPING_CHUNK];
	struct page *done[VCUDA_MAPPING_CHUNK];
};

int vcuda_mapping_errno(s16 status)
{
	switch (status) {
	case GNTST_okay:
		return 0;
	case GNTST_no_device_space:
		return -ENOSPC;
	default:
		return -EINVAL;
	}
}

static phys_addr_t kernel_address(struct page *page)
{
	return (unsigned long)pfn_to_kaddr(page_to_pfn(page));
}

static int map_chunk(struct vcuda_mapping *m, u32 first, u32 n)
{
	struct gnttab_map_grant_ref *ops = m->batch->map;
	int err;
	u32 i;

	for (i = 0; i < n; i++)
		gnttab_set_map_op(&ops[i], kernel_address(m->pages[first + i]),
				  GNTMAP_host_map, m->refs[first + i],
				  m->domid);
	err = gnttab_map_refs(ops, NULL, m->pages + first, n);
	for (i = 0; i < n; i++) {
		if (ops[i].status == GNTST_okay)
			m->handles[first + i] = ops[i].handle;
		else if (!err)
			err = vcuda_mapping_errno(ops[i].status);
	}
	return err;
}

/*
 * Ends the handles of n pages and frees the pages. A page whose grant could not
 * be unmapped may still be written by the other domain: it is never used again.
 */
static void unmap_chunk(struct vcuda_mapping *m, u32 first, u32 n)
{
	struct vcuda_mapping_batch *b = m->batch;
	u32 ops = 0;
	u32 done = 0;
	u32 i;

	for (i = first; i < first + n; i++) {
		if (m->handles[i] == INVALID_GRANT_HANDLE) {
			b->done[done++] = m->pages[i];
			continue;
		}
		gnttab_set_unmap_op(&b->unmap[ops],
				    kernel_address(m->pages[i]),
				    GNTMAP_host_map, m->handles[i]);
		b->unmap[ops].status = GNTST_general_error;
		b->pages[ops] = m->pages[i];
		b->index[ops++] = i;
	}
	if (ops && gnttab_unmap_refs(b->unmap, NULL, b->pages, ops))
		pr_err_ratelimited("domain %u: unmapping grants failed\n", m->domid);
	for (i = 0; i < ops; i++) {
		m->handles[b->index[i]] = INVALID_GRANT_HANDLE;
		if (b->unmap[i].status == GNTST_okay)
			b->done[done++] = b->pages[i];
		else
			pr_err_ratelimited("domain %u: grant %u stays mapped (%d)\n",
					   m->domid, m->refs[b->index[i]],
					   b->unmap[i].status);
	}
	gnttab_free_pages(done, b->done);
}

static bool chunk_pinned(struct vcuda_mapping *m, u32 first, u32 n)
{
	u32 i;

	for (i = first; i < first + n; i++)
		if (page_count(m->pages[i]) > 1)
			return true;
	return false;
}

static u32 chunk_size(struct vcuda_mapping *m, u32 first)
{
	return min(m->count - first, VCUDA_MAPPING_CHUNK);
}

static void mapping_free(struct kref *kref)
{
	struct vcuda_mapping *m = container_of(kref, struct vcuda_mapping, kref);

	kfree(m->batch);
	kvfree(m->handles);
	kvfree(m->pages);
	kvfree(m->refs);
	kfree(m);
}

void vcuda_mapping_get(struct vcuda_mapping *m)
{
	kref_get(&m->kref);
}

void vcuda_mapping_put(struct vcuda_mapping *m)
{
	kref_put(&m->kref, mapping_free);
}

static void zap(struct vcuda_mapping *m)
{
	if (m->place.space)
		unmap_mapping_range(m->place.space, m->place.offset,
				    (loff_t)m->count << PAGE_SHIFT, 1);
}

static void unmap_later(struct vcuda_mapping *m)
{
	unsigned int ms = UNMAP_RETRY_MS * ++m->tries;

	/* An mmap that was under way at release was not in the file's tree of
	 * mappings yet, and was missed.
	 */
	zap(m);
	queue_delayed_work(m->wq, &m->unmap_work,
			   msecs_to_jiffies(min(ms, UNMAP_RETRY_MS_MAX)));
}

/* What gnttab_unmap_refs_async() does, in pieces and on our own queue: the
 * module's exit must be able to wait until the last one has returned.
 */
static void unmap_work(struct work_struct *work)
{
	struct vcuda_mapping *m = container_of(to_delayed_work(work),
					       struct vcuda_mapping,
					       unmap_work);
	bool module_held = m->module_held;

	while (m->unmapped < m->count) {
		u32 n = chunk_size(m, m->unmapped);

		if (chunk_pinned(m, m->unmapped, n)) {
			unmap_later(m);
			return;
		}
		unmap_chunk(m, m->unmapped, n);
		m->unmapped += n;
		cond_resched();
	}
	m->released(m->owner);
	vcuda_mapping_put(m);
	if (module_held)
		module_put(THIS_MODULE);
}

static struct vcuda_mapping *mapping_alloc(domid_t domid, const u32 *refs,
					   u32 count)
{
	struct vcuda_mapping *m = kzalloc(sizeof(*m), GFP_KERNEL);
	u32 i;

	if (!m)
		return NULL;
	kref_init(&m->kref);
	mutex_init(&m->lock);
	m->domid = domid;
	m->count = count;
	m->refs = kvmalloc_array(count, sizeof(*refs), GFP_KERNEL);
	m->pages = kvcalloc(count, sizeof(*m->pages), GFP_KERNEL);
	m->handles = kvmalloc_array(count, sizeof(*m->handles), GFP_KERNEL);
	m->batch = kmalloc(sizeof(*m->batch), GFP_KERNEL);
	if (!m->refs || !m->pages || !m->handles || !m->batch ||
	    gnttab_alloc_pages(count, m->pages)) {
		vcuda_mapping_put(m);
		return NULL;
	}
	memcpy(m->refs, refs, count * sizeof(*refs));
	for (i = 0; i < count; i++)
		m->handles[i] = INVALID_GRANT_HANDLE;
	return m;
}

struct vcuda_mapping *vcuda_mapping_create(struct workqueue_struct *wq,
					   domid_t domid, const u32 *refs,
					   u32 count)
{
	struct vcuda_mapping *m = mapping_alloc(domid, refs, count);
	int err = 0;
	u32 at;

	if (!m)
		return ERR_PTR(-ENOMEM);
	m->wq = wq;
	INIT_DELAYED_WORK(&m->unmap_work, unmap_work);
	for (at = 0; at < count && !err; at += chunk_size(m, at)) {
		err = map_chunk(m, at, chunk_size(m, at));
		cond_resched();
	}
	if (!err)
		return m;
	/* Nobody else has seen these pages: nothing to wait for. */
	for (at = 0; at < count; at += chunk_size(m, at))
		unmap_chunk(m, at, chunk_size(m, at));
	vcuda_mapping_put(m);
	return ERR_PTR(err);
}

void vcuda_mapping_release(struct vcuda_mapping *m,
			   struct vcuda_mapping_place place,
			   void (*released)(void *owner), void *owner)
{
	m->place = place;
	m->released = released;
	m->owner = owner;

	mutex_lock(&m->lock);
	m->revoked = true;
	if (m->user)
		vcuda_mapping_user_unmap(m->user);
	mutex_unlock(&m->lock);
	/* Takes each page-table lock: whoever read one of our entries before
	 * now has got its reference to the page, and is waited for.
	 */
	zap(m);
	queue_delayed_work(m->wq, &m->unmap_work, 0);
}

void *vcuda_mapping_first(struct vcuda_mapping *m)
{
	return page_address(m->pages[0]);
}

bool vcuda_mapping_in_use(struct vcuda_mapping *m)
{
	bool in_use;

	mutex_lock(&m->lock);
	in_use = m->user;
	mutex_unlock(&m->lock);
	return in_use;
}
