/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The local transport: a Unix SOCK_SEQPACKET socket instead of two modules.
 * It carries descriptors, once; every call goes through the same rings.
 *
 *   program                     vcudad                    worker
 *      | connect                  |                          |
 *      |------------------------->| passes the connection on |
 *      |                          |------------------------->|
 *      | LOCAL_OPEN + 3 descriptors: region 0's memfd, the eventfd that wakes
 *      | the worker, the eventfd that wakes the program      |
 *      |---------------------------------------------------->|
 *      |                                LOCAL_OPENED, status |
 *      |<----------------------------------------------------|
 *      | LOCAL_REGION + the region's memfd                   |
 *      |---------------------------------------------------->|
 *      | then map_region or share_region through the ring    |
 *
 * Such a call is about the last LOCAL_REGION that was sent: what came before it
 * and was not taken is dropped.
 * A write of 1 to an eventfd notifies: each write counts, nobody need read it.
 * The connection's end is the session's end, for both. Memory descriptors are
 * sealed against shrinking: a receiver refuses one that is not, for a cut file
 * would kill it by SIGBUS.
 */
#ifndef VCUDA_PROTOCOL_LOCAL_H
#define VCUDA_PROTOCOL_LOCAL_H

#include <linux/types.h>

#define VCUDA_LOCAL_SOCKET "/run/vcuda/vcudad.sock"

enum vcuda_local_op {
	VCUDA_LOCAL_OPEN = 1,
	VCUDA_LOCAL_OPENED = 2,
	VCUDA_LOCAL_REGION = 3,
};

struct vcuda_local_msg {
	__u32 op;
	__s32 status; /* OPENED: 0 or -errno */
	__u32 version; /* OPEN: as in struct vcuda_ioc_open */
	__u32 features;
	__u32 sub_bytes;
	__u32 cmp_bytes;
	__u32 region; /* REGION */
	__u32 pad;
	__u64 bytes; /* REGION */
};

#endif
