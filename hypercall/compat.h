/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between Debian 12's kernels (6.1 and 6.12) that both modules
 * meet. Nothing else in the modules asks for a kernel's version.
 */
#ifndef VCUDA_HYPERCALL_COMPAT_H
#define VCUDA_HYPERCALL_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>

/*
 * Sets and clears flags of a mapping that is being made (its mmap lock is held
 * for writing). Since 6.3 vm_flags is read-only but for the accessors.
 */
static inline void vcuda_vm_flags_change(struct vm_area_struct *vma,
					 unsigned long set, unsigned long clear)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#else
	vm_flags_mod(vma, set, clear);
#endif
}

#endif
