/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The chain of granted pages that names the grants of a run to the backend: see
 * struct vcuda_directory in protocol/control.h.
 */
#ifndef VCUDA_HYPERCALL_DIRECTORY_H
#define VCUDA_HYPERCALL_DIRECTORY_H

#include "grant.h"

struct vcuda_directory_chain {
	struct vcuda_grant_run run;
};

/*
 * Describes all grants of run. The chain must be zeroed. The pages are granted
 * for reading only: the backend copies them. Errors as for a run.
 */
int vcuda_directory_build(struct vcuda_directory_chain *chain, domid_t domid,
			  const struct vcuda_grant_run *run);

/* The grant of the first page, which stands for the whole chain. */
grant_ref_t vcuda_directory_ref(const struct vcuda_directory_chain *chain);

/* Ends access and frees the chain; does nothing for one that is not built. */
void vcuda_directory_free(struct vcuda_directory_chain *chain);

#endif
