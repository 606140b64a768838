/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What the two modules say to each other, over the control page of a device
 * (layout.h) and its event channel.
 *
 *  frontend                                 backend
 *     |  OPEN session, rings' directory, port  |
 *     |--------------------------------------->| maps the rings, binds the port,
 *     |                                        | queues the session for vcudad
 *     |                            OPEN reply  | ... which claims it
 *     |<---------------------------------------|
 *     |  REGION_ADD session, region, directory |
 *     |--------------------------------------->| maps the pages
 *     |                      REGION_ADD reply  |
 *     |<---------------------------------------|
 *     |                   DEAD session, status | worker gone, refused, broken
 *     |<---------------------------------------|
 *     |  CLOSE session                         |
 *     |--------------------------------------->| revokes the worker's mappings,
 *     |                           CLOSE reply  | unmaps its own, then answers
 *     |<---------------------------------------|
 *  ends the grants, frees the pages
 *
 * OPEN is answered when vcudad has claimed or refused the session, and the rest
 * at once; replies may so overtake each other.
 * Every request has exactly one reply (op | VCUDA_CTL_REPLY, same id, session
 * and region; status 0 or a negative Linux errno). A frontend has at most
 * VCUDA_CTL_REQUESTS_MAX requests without a reply, so that replies always fit;
 * a backend that has no room for DEAD keeps it until there is.
 * REGION_DEL and CLOSE are answered only after the backend's last mapping of
 * the pages is gone: only then does the frontend end the grants.
 *
 * Directory of a run of pages: a chain of granted pages, each
 * struct vcuda_directory. The backend copies them by grant copy, checks the
 * copy, then maps. They may be reused once the reply is there.
 */
#ifndef VCUDA_PROTOCOL_CONTROL_H
#define VCUDA_PROTOCOL_CONTROL_H

#include "layout.h"

enum vcuda_ctl_op {
	VCUDA_CTL_OPEN = 1,
	VCUDA_CTL_REGION_ADD = 2,
	VCUDA_CTL_REGION_DEL = 3,
	VCUDA_CTL_CLOSE = 4,
	VCUDA_CTL_DEAD = 5, /* backend to frontend, no reply */
	VCUDA_CTL_REPLY = 0x80,
};

#define VCUDA_CTL_REQUESTS_MAX 8u

struct vcuda_ctl {
	__u32 len; /* sizeof(struct vcuda_ctl) */
	__u16 op;
	__u16 pad;
	__u32 id;      /* of the request, echoed by its reply */
	__u32 session; /* chosen by the frontend, unique among its open ones */
	__s32 status;  /* replies and DEAD: 0 or -errno */
	__u32 region;  /* REGION_*: 1..VCUDA_REGIONS_MAX-1, chosen by the frontend */
	__u32 pages;   /* OPEN, REGION_ADD */
	__u32 dir_ref; /* OPEN, REGION_ADD: grant of the first directory page */
	__u32 port;    /* OPEN: the session's event channel */
	__u32 sub_bytes; /* OPEN: ring sizes */
	__u32 cmp_bytes;
	__u32 version;  /* OPEN: offered by the library ... */
	__u32 features; /* ... and passed through to the worker unchanged */
	__u32 pad1[3];
};

#define VCUDA_DIRECTORY_REFS (VCUDA_PAGE / 4 - 2)

struct vcuda_directory {
	__u32 next_ref; /* grant of the next directory page; unused in the last */
	__u32 pad;
	__u32 refs[VCUDA_DIRECTORY_REFS];
};

/* Directory pages for this many pages. */
static inline __u32 vcuda_directory_pages(__u32 pages)
{
	return (pages + VCUDA_DIRECTORY_REFS - 1) / VCUDA_DIRECTORY_REFS;
}

/*
 * Whether a request's own numbers make sense (not whether limits allow it):
 * 0 or -EINVAL. Checks the copy, as both ends do before they act.
 */
int vcuda_ctl_check_request(const struct vcuda_ctl *c);

#endif
