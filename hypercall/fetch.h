/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fetching a peer's directory of grant references (protocol/control.h) by grant
 * copy: the peer's page is never mapped, so what was checked cannot change.
 */
#ifndef VCUDA_HYPERCALL_FETCH_H
#define VCUDA_HYPERCALL_FETCH_H

#include <linux/types.h>
#include <xen/interface/xen.h>

/*
 * Copies the grant references of a run of pages, from the chain that starts at
 * first_ref, to refs (one entry a page). The number of pages alone, which
 * the caller has bounded, says how long the chain is. 0, -ENOMEM, or -EINVAL
 * where the domain did not grant a page of the chain. May sleep.
 */
int vcuda_fetch_directory(domid_t domid, u32 first_ref, u32 pages, u32 *refs);

#endif
