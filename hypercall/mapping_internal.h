/* SPDX-License-Identifier: GPL-2.0 */
/* What mapping.c (the kernel's handles) and mapping_user.c share. */
#ifndef VCUDA_HYPERCALL_MAPPING_INTERNAL_H
#define VCUDA_HYPERCALL_MAPPING_INTERNAL_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <xen/grant_table.h>

#include "mapping.h"

/* Pages a hypercall: bounds the time that one takes and the room for its ops. */
#define VCUDA_MAPPING_CHUNK 128u

struct vcuda_mapping_user;

struct vcuda_mapping {
	struct kref kref;
	domid_t domid;
	u32 count;
	u32 *refs;
	struct page **pages;
	grant_handle_t *handles; /* the kernel's */

	struct mutex lock; /* user, revoked, module_held */
	struct vcuda_mapping_user *user;
	bool revoked;
	bool module_held; /* pins may outlive the descriptor that led to them */

	/* Release. */
	struct workqueue_struct *wq;
	struct delayed_work unmap_work;
	struct vcuda_mapping_place place;
	void (*released)(void *owner);
	void *owner;
	u32 unmapped; /* pages whose handles have ended */
	unsigned int tries;
	struct vcuda_mapping_batch *batch;
};

/* Errno of a grant operation's status. */
int vcuda_mapping_errno(s16 status);

/* Ends every user handle. The caller holds m->lock. */
void vcuda_mapping_user_unmap(struct vcuda_mapping_user *u);

#endif
