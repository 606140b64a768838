/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The character devices.
 *
 * /dev/vcuda (domU, mode 0666) - one open file is one session:
 *   VCUDA_IOC_OPEN, then mmap of region 0; VCUDA_IOC_REGION_ADD and mmap for
 *   each arena region. Closing the last descriptor, or exit, ends the session.
 *
 * /dev/vcuda-host (dom0, mode 0600) - one open file at a time, vcudad's:
 *   poll: POLLIN while something waits for VCUDA_HOST_IOC_NEXT.
 *   VCUDA_HOST_IOC_CLAIM turns a new session into a descriptor that reaches
 *   this session alone, to be given to a worker.
 *   When vcudad closes the device (or dies) sessions that it claimed live on
 *   with their workers; unclaimed ones end with -ESHUTDOWN.
 *
 * Session descriptors, of both kinds:
 *   read   8 bytes: the number (__u64) of notifications since the last read,
 *          at least 1; blocks (interruptibly) unless O_NONBLOCK (-EAGAIN);
 *          -EPIPE once the session is dead.
 *   write  8 bytes (__u64, value ignored): notifies the peer; -EPIPE if dead.
 *   poll   POLLIN: read will not block; POLLHUP: the session is dead.
 *   mmap   offset vcuda_region_offset(region), whole regions, shared.
 *          After death the pages stay readable in the guest; in the worker
 *          they are revoked and replaced by one private page.
 *
 * Local transport: an eventfd has the same write; see local.h.
 */
#ifndef VCUDA_PROTOCOL_IOCTL_H
#define VCUDA_PROTOCOL_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define VCUDA_DEVICE "/dev/vcuda"
#define VCUDA_HOST_DEVICE "/dev/vcuda-host"

/* File offset at which a region is mapped. */
static inline __u64 vcuda_region_offset(__u32 region)
{
	return (__u64)region << 36;
}

/* Opens the session: -EBUSY if asked before (a refused session stays, dead,
 * until the file is closed; another file may try again), -ENODEV not attached,
 * -ESHUTDOWN no vcudad, -EDQUOT too many sessions, -ENOSPC no grants left,
 * -EPROTO backend refused the request as malformed.
 */
struct vcuda_ioc_open {
	__u32 version;  /* in: highest version the caller speaks */
	__u32 features; /* in: caller's features */
	__u32 sub_bytes; /* in: ring sizes, vcuda_ring_size_ok() */
	__u32 cmp_bytes;
	__u32 session; /* out: number of the session, for messages */
	__u32 domid;   /* out: 0; the worker's side fills in the guest's id */
};

struct vcuda_ioc_region {
	__u64 bytes;  /* in for ADD: whole pages; out for INFO */
	__u32 region; /* out for ADD; in for DEL and INFO */
	__u32 pad;
};

#define VCUDA_IOC_OPEN _IOWR('V', 0x01, struct vcuda_ioc_open)
/* -EDQUOT over the domain's limit, -ENOMEM, -ENOSPC no grants or handles. */
#define VCUDA_IOC_REGION_ADD _IOWR('V', 0x02, struct vcuda_ioc_region)
/* Ends a region that both sides have unmapped: -EBUSY if not. */
#define VCUDA_IOC_REGION_DEL _IOW('V', 0x03, struct vcuda_ioc_region)

/* What the worker's session descriptor answers beyond read/write/poll/mmap. */
#define VCUDA_IOC_SESSION_INFO _IOR('V', 0x10, struct vcuda_ioc_open)
/* The size of a region as the kernel mapped it: -ENOENT if there is none. */
#define VCUDA_IOC_REGION_INFO _IOWR('V', 0x11, struct vcuda_ioc_region)

/* Counters of one session, from either end. */
struct vcuda_ioc_counters {
	__u64 notifications_sent;
	__u64 notifications_received;
	__u64 spurious; /* received with nothing new in the rings' owner's eyes: 0 today */
	__u64 pages;    /* granted (guest) or mapped (dom0) */
};

#define VCUDA_IOC_COUNTERS _IOR('V', 0x12, struct vcuda_ioc_counters)

enum vcuda_host_event {
	VCUDA_HOST_SESSION_NEW = 1, /* wants a worker: CLAIM or REFUSE it */
	VCUDA_HOST_SESSION_GONE = 2, /* ended, whoever ended it */
};

struct vcuda_ioc_host_event {
	__u32 what; /* enum vcuda_host_event */
	__u32 domid;
	__u32 session;
	__u32 pad;
};

struct vcuda_ioc_claim {
	__u32 domid;
	__u32 session;
	__s32 status; /* REFUSE: the -errno that the guest's open() answers */
	__u32 pad;
};

/* The next event: -EAGAIN if none. */
#define VCUDA_HOST_IOC_NEXT _IOR('V', 0x20, struct vcuda_ioc_host_event)
/* Returns a new descriptor (O_CLOEXEC): -ENOENT, -EBUSY if claimed. */
#define VCUDA_HOST_IOC_CLAIM _IOW('V', 0x21, struct vcuda_ioc_claim)
#define VCUDA_HOST_IOC_REFUSE _IOW('V', 0x22, struct vcuda_ioc_claim)

#endif
