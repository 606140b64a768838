// SPDX-License-Identifier: GPL-2.0
/* A mapping in a process. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <asm/xen/hypercall.h>
#include <asm/xen/page.h>
#include <xen/features.h>

#include "compat.h"
#include "mapping_internal.h"

/* Whoever reads the page that replaces a revoked one finds ring indices that no
 * honest peer writes (they are multiples of 8), and so an error.
 */
#define DEAD_WORD 0xdeaddeadu

struct user_entry {
	u64 pte; /* machine address of the page-table entry */
	grant_handle_t handle;
};

struct vcuda_mapping_user {
	struct vcuda_mapping *mapping; /* a reference */
	struct page *dead;
	/* The rest is for PV domains only. */
	struct mmu_interval_notifier notifier;
	struct mutex lock; /* handles, ops; innermost, allocates nothing */
	unsigned long start;
	struct user_entry *entries;
	union {
		struct gnttab_map_grant_ref map[VCUDA_MAPPING_CHUNK];
		struct gnttab_unmap_grant_ref unmap[VCUDA_MAPPING_CHUNK];
	} ops;
};

static bool user_is_pv(void)
{
	return !xen_feature(XENFEAT_auto_translated_physmap);
}

static void unmap_ops(struct vcuda_mapping_user *u, u32 n)
{
	u32 i;

	if (!n)
		return;
	if (HYPERVISOR_grant_table_op(GNTTABOP_unmap_grant_ref, u->ops.unmap, n))
		pr_err_ratelimited("domain %u: unmapping from a process failed\n",
				   u->mapping->domid);
	for (i = 0; i < n; i++)
		if (u->ops.unmap[i].status != GNTST_okay)
			pr_err_ratelimited("domain %u: a process keeps a page (%d)\n",
					   u->mapping->domid,
					   u->ops.unmap[i].status);
}

/* Ends the user's handles of pages [first, end). The caller holds u->lock. */
static void unmap_range(struct vcuda_mapping_user *u, u32 first, u32 end,
			bool may_sleep)
{
	u32 n = 0;
	u32 i;

	for (i = first; i < end; i++) {
		struct user_entry *e = &u->entries[i];

		if (e->handle == INVALID_GRANT_HANDLE)
			continue;
		gnttab_set_unmap_op(&u->ops.unmap[n], e->pte,
				    GNTMAP_contains_pte, e->handle);
		u->ops.unmap[n++].status = GNTST_general_error;
		e->handle = INVALID_GRANT_HANDLE;
		if (n == VCUDA_MAPPING_CHUNK) {
			unmap_ops(u, n);
			n = 0;
			if (may_sleep)
				cond_resched();
		}
	}
	unmap_ops(u, n);
}

void vcuda_mapping_user_unmap(struct vcuda_mapping_user *u)
{
	if (!u->entries)
		return;
	mutex_lock(&u->lock);
	unmap_range(u, 0, u->mapping->count, true);
	mutex_unlock(&u->lock);
}

/* The process is about to lose, or change, these page-table entries. */
static bool user_invalidate(struct mmu_interval_notifier *notifier,
			    const struct mmu_notifier_range *range,
			    unsigned long seq)
{
	struct vcuda_mapping_user *u =
		container_of(notifier, struct vcuda_mapping_user, notifier);
	unsigned long end = u->start +
			    ((unsigned long)u->mapping->count << PAGE_SHIFT);
	bool may_sleep = mmu_notifier_range_blockable(range);

	if (may_sleep)
		mutex_lock(&u->lock);
	else if (!mutex_trylock(&u->lock))
		return false;
	mmu_interval_set_seq(notifier, seq);
	unmap_range(u, (max(range->start, u->start) - u->start) >> PAGE_SHIFT,
		    (min(range->end, end) - u->start) >> PAGE_SHIFT, may_sleep);
	mutex_unlock(&u->lock);
	return true;
}

static const struct mmu_interval_notifier_ops user_notifier_ops = {
	.invalidate = user_invalidate,
};

static int find_pte(pte_t *pte, unsigned long addr, void *data)
{
	struct vcuda_mapping_user *u = data;

	u->entries[(addr - u->start) >> PAGE_SHIFT].pte =
		arbitrary_virt_to_machine(pte).maddr;
	return 0;
}

static int map_chunk(struct vcuda_mapping_user *u, u32 first, u32 n)
{
	struct vcuda_mapping *m = u->mapping;
	struct gnttab_map_grant_ref *ops = u->ops.map;
	int err = 0;
	u32 i;

	for (i = 0; i < n; i++)
		gnttab_set_map_op(&ops[i], u->entries[first + i].pte,
				  GNTMAP_host_map | GNTMAP_application_map |
				  GNTMAP_contains_pte |
				  (1 << _GNTMAP_guest_avail0),
				  m->refs[first + i], m->domid);
	/* Not gnttab_map_refs(): the pages belong to the kernel's handles. */
	gnttab_batch_map(ops, n);
	for (i = 0; i < n; i++) {
		if (ops[i].status == GNTST_okay)
			u->entries[first + i].handle = ops[i].handle;
		else if (!err)
			err = vcuda_mapping_errno(ops[i].status);
	}
	return err;
}

static int map_pv(struct vcuda_mapping_user *u, struct vm_area_struct *vma)
{
	struct vcuda_mapping *m = u->mapping;
	int err;
	u32 at;

	/* The address of an entry holds while the notifier watches it and we
	 * hold the mmap lock; wait for an invalidation that was under way.
	 */
	mmu_interval_read_begin(&u->notifier);
	err = apply_to_page_range(vma->vm_mm, vma->vm_start,
				  vma->vm_end - vma->vm_start, find_pte, u);
	for (at = 0; at < m->count && !err; at += VCUDA_MAPPING_CHUNK) {
		mutex_lock(&u->lock);
		if (READ_ONCE(m->revoked))
			err = -EPIPE;
		else
			err = map_chunk(u, at, min(m->count - at,
						   VCUDA_MAPPING_CHUNK));
		mutex_unlock(&u->lock);
		cond_resched();
	}
	return err;
}

/*
 * From the mapping's first page on: the area's offset is a place in the file,
 * at which vm_map_pages() would look for pages.
 */
static int map_plain(struct vcuda_mapping *m, struct vm_area_struct *vma)
{
	return vm_map_pages_zero(vma, m->pages, m->count);
}

static void user_free(struct vcuda_mapping_user *u)
{
	put_page(u->dead);
	vcuda_mapping_put(u->mapping);
	kvfree(u->entries);
	kfree(u);
}

static int prepare_pv(struct vcuda_mapping_user *u, struct vm_area_struct *vma)
{
	u32 i;

	mutex_init(&u->lock);
	u->start = vma->vm_start;
	u->entries = kvmalloc_array(u->mapping->count, sizeof(*u->entries),
				    GFP_KERNEL);
	if (!u->entries)
		return -ENOMEM;
	for (i = 0; i < u->mapping->count; i++)
		u->entries[i].handle = INVALID_GRANT_HANDLE;
	return mmu_interval_notifier_insert_locked(&u->notifier, vma->vm_mm,
						   vma->vm_start,
						   vma->vm_end - vma->vm_start,
						   &user_notifier_ops);
}

static struct vcuda_mapping_user *user_create(struct vcuda_mapping *m,
					      struct vm_area_struct *vma)
{
	struct vcuda_mapping_user *u = kzalloc(sizeof(*u), GFP_KERNEL);
	int err;

	if (!u)
		return ERR_PTR(-ENOMEM);
	u->dead = alloc_page(GFP_KERNEL);
	if (!u->dead) {
		kfree(u);
		return ERR_PTR(-ENOMEM);
	}
	memset32(page_address(u->dead), DEAD_WORD, PAGE_SIZE / sizeof(u32));
	vcuda_mapping_get(m);
	u->mapping = m;
	err = user_is_pv() ? prepare_pv(u, vma) : 0;
	if (err) {
		user_free(u);
		return ERR_PTR(err);
	}
	return u;
}

static void user_destroy(struct vcuda_mapping_user *u)
{
	struct vcuda_mapping *m = u->mapping;

	vcuda_mapping_user_unmap(u);
	mutex_lock(&m->lock);
	if (m->user == u)
		m->user = NULL;
	mutex_unlock(&m->lock);
	if (user_is_pv())
		mmu_interval_notifier_remove(&u->notifier);
	user_free(u);
}

/* Makes u the mapping's only user. */
static int user_publish(struct vcuda_mapping_user *u)
{
	struct vcuda_mapping *m = u->mapping;
	int err = 0;

	mutex_lock(&m->lock);
	if (m->revoked) {
		err = -EPIPE;
	} else if (m->user) {
		err = -EBUSY;
	} else {
		m->user = u;
		if (!m->module_held)
			__module_get(THIS_MODULE);
		m->module_held = true;
	}
	mutex_unlock(&m->lock);
	return err;
}

/* A copy of the area (fork after MADV_DOFORK, mremap) has nothing to map. */
static void user_vma_open(struct vm_area_struct *vma)
{
	vma->vm_private_data = NULL;
}

static void user_vma_close(struct vm_area_struct *vma)
{
	if (vma->vm_private_data)
		user_destroy(vma->vm_private_data);
}

static int user_vma_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

/* A change of protection would take the entries away. */
static int user_vma_mprotect(struct vm_area_struct *vma, unsigned long start,
			     unsigned long end, unsigned long newflags)
{
	return -EACCES;
}

/* Everything is mapped from the start: what faults has been revoked. */
static vm_fault_t user_vma_fault(struct vm_fault *vmf)
{
	struct vcuda_mapping_user *u = vmf->vma->vm_private_data;

	if (!u)
		return VM_FAULT_SIGBUS;
	get_page(u->dead);
	vmf->page = u->dead;
	return 0;
}

/* The struct page behind an entry that Xen wrote, for whoever pins it. */
static struct page *user_vma_special_page(struct vm_area_struct *vma,
					  unsigned long addr)
{
	struct vcuda_mapping_user *u = vma->vm_private_data;

	return u ? u->mapping->pages[(addr - u->start) >> PAGE_SHIFT] : NULL;
}

static const struct vm_operations_struct user_vm_ops = {
	.open = user_vma_open,
	.close = user_vma_close,
	.may_split = user_vma_may_split,
	.mprotect = user_vma_mprotect,
	.fault = user_vma_fault,
	.find_special_page = user_vma_special_page,
};

int vcuda_mapping_mmap(struct vcuda_mapping *m, struct vm_area_struct *vma)
{
	struct vcuda_mapping_user *u;
	int err;

	if (vma_pages(vma) != m->count || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (!(vma->vm_flags & VM_READ) || !(vma->vm_flags & VM_WRITE) ||
	    vma->vm_flags & VM_EXEC)
		return -EACCES;
	u = user_create(m, vma);
	if (IS_ERR(u))
		return PTR_ERR(u);
	/* Not VM_MIXEDMAP: fork would then copy the entries after MADV_DOFORK,
	 * and Xen would refuse the child's page table.
	 */
	vcuda_vm_flags_change(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY,
			      0);
	err = user_publish(u);
	if (!err)
		err = user_is_pv() ? map_pv(u, vma) : map_plain(m, vma);
	if (err) {
		user_destroy(u);
		return err;
	}
	vma->vm_private_data = u;
	vma->vm_ops = &user_vm_ops;
	return 0;
}
