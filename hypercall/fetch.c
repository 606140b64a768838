// SPDX-License-Identifier: GPL-2.0
#include <linux/gfp.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <xen/grant_table.h>
#include <xen/page.h>

#include "../protocol/control.h"
#include "fetch.h"

static int copy_page_from(domid_t domid, u32 ref, void *page)
{
	struct gnttab_copy op = {
		.source.u.ref = ref,
		.source.domid = domid,
		.dest.u.gmfn = virt_to_gfn(page),
		.dest.domid = DOMID_SELF,
		.len = XEN_PAGE_SIZE,
		.flags = GNTCOPY_source_gref,
	};

	gnttab_batch_copy(&op, 1);
	return op.status == GNTST_okay ? 0 : -EINVAL;
}

int vcuda_fetch_directory(domid_t domid, u32 first_ref, u32 pages, u32 *refs)
{
	struct vcuda_directory *dir;
	u32 ref = first_ref;
	u32 done = 0;
	int err = 0;

	BUILD_BUG_ON(sizeof(*dir) != XEN_PAGE_SIZE);
	dir = (void *)__get_free_page(GFP_KERNEL);
	if (!dir)
		return -ENOMEM;
	while (done < pages) {
		u32 n = min_t(u32, pages - done, VCUDA_DIRECTORY_REFS);

		err = copy_page_from(domid, ref, dir);
		if (err)
			break;
		memcpy(refs + done, dir->refs, n * sizeof(*refs));
		ref = dir->next_ref;
		done += n;
		cond_resched();
	}
	free_page((unsigned long)dir);
	return err;
}
