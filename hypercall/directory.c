// SPDX-License-Identifier: GPL-2.0
#include "directory.h"

#include <linux/mm.h>
#include <linux/string.h>

#include "../protocol/control.h"

static void fill(struct vcuda_directory_chain *chain, u32 at,
		 const struct vcuda_grant_run *run)
{
	struct vcuda_directory *dir = page_address(chain->run.pages[at]);
	u32 first = at * VCUDA_DIRECTORY_REFS;
	u32 count = min_t(u32, run->granted - first, VCUDA_DIRECTORY_REFS);

	memcpy(dir->refs, run->refs + first, count * sizeof(*dir->refs));
	if (at + 1 < chain->run.count)
		dir->next_ref = chain->run.refs[at + 1];
}

int vcuda_directory_build(struct vcuda_directory_chain *chain, domid_t domid,
			  const struct vcuda_grant_run *run)
{
	u32 at;
	int err;

	err = vcuda_grant_run_create(&chain->run,
				     vcuda_directory_pages(run->granted),
				     domid, true);
	if (err)
		return err;
	for (at = 0; at < chain->run.count; at++)
		fill(chain, at, run);
	return 0;
}

grant_ref_t vcuda_directory_ref(const struct vcuda_directory_chain *chain)
{
	return chain->run.refs[0];
}

void vcuda_directory_free(struct vcuda_directory_chain *chain)
{
	vcuda_grant_run_free(&chain->run);
}
