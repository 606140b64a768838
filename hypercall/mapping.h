/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A run of another domain's pages, mapped here: by the kernel for the life of
 * the mapping, and by one process at a time.
 *
 * In a PV domain each page has two handles. The kernel's backs the struct page
 * and so everything that a driver may have pinned; it ends only when nobody
 * else holds the page. The user's is an entry in the process's page table; it
 * ends at once, whatever is pinned, since page tables go away before
 * descriptors do. (One handle for both is what damages pages when a process
 * with pinned pages is killed.) In an auto-translated domain the kernel's pages
 * are ordinary ones and the process simply maps them.
 *
 * Life: create -> mmap, munmap, ... -> release -> (zap, wait for pins, unmap)
 * -> released() -> the object goes with its last reference.
 */
#ifndef VCUDA_HYPERCALL_MAPPING_H
#define VCUDA_HYPERCALL_MAPPING_H

#include <linux/types.h>
#include <xen/interface/xen.h>

struct address_space;
struct vcuda_mapping;
struct vm_area_struct;
struct workqueue_struct;

/*
 * Maps count pages (> 0, bounded by the caller) that domid granted writable.
 * The caller owns the result and ends it with vcuda_mapping_release().
 * ERR_PTR: -ENOMEM, -ENOSPC (Xen has no handles left), -EINVAL (a grant is not
 * as it should be); then nothing is left mapped. wq runs the unmapping and must
 * outlive the mapping. May sleep.
 */
struct vcuda_mapping *vcuda_mapping_create(struct workqueue_struct *wq,
					   domid_t domid, const u32 *refs,
					   u32 count);

/* Where a mapping shows in processes, so that release can take it from them. */
struct vcuda_mapping_place {
	struct address_space *space; /* NULL: never mapped by a process */
	loff_t offset;		     /* of the mapping's first page, bytes */
};

/*
 * Ends the mapping: processes lose it at once (and find a page of nonsense
 * instead), the kernel's handles end when the last pin is gone. Then
 * released(owner) is called, on wq; place.space must live until then. The
 * caller's reference goes too. Never waits for a process or a device.
 */
void vcuda_mapping_release(struct vcuda_mapping *m,
			   struct vcuda_mapping_place place,
			   void (*released)(void *owner), void *owner);

/* References to the object, not to the pages: those end with release. */
void vcuda_mapping_get(struct vcuda_mapping *m);
void vcuda_mapping_put(struct vcuda_mapping *m);

/* Kernel address of the first page; the others do not follow it. */
void *vcuda_mapping_first(struct vcuda_mapping *m);

/* Whether a process has it mapped now. */
bool vcuda_mapping_in_use(struct vcuda_mapping *m);

/*
 * A file's ->mmap: the whole mapping, shared, readable and writable. -EINVAL,
 * -EACCES, -EBUSY if mapped already, -EPIPE after release, -ENOMEM, -ENOSPC.
 */
int vcuda_mapping_mmap(struct vcuda_mapping *m, struct vm_area_struct *vma);

#endif
