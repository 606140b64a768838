/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Versions and features, negotiated twice in the same way: between the two
 * modules when a device connects (xenstore), and between library and worker
 * when a session says hello (VCUDA_CALL_HELLO).
 *
 * A side states the range of versions that it speaks. Both use the highest
 * common one; without one the connection is refused with a message that names
 * both ranges. A feature is used when both sides named its bit; unknown bits
 * are ignored, so that a new bit never breaks an old peer.
 */
#ifndef VCUDA_PROTOCOL_VERSION_H
#define VCUDA_PROTOCOL_VERSION_H

#include <linux/types.h>

#define VCUDA_VERSION_MIN 1u
#define VCUDA_VERSION_MAX 1u

/* The modules': none exists yet; the word is exchanged from the first day. */
#define VCUDA_FEATURES 0u

/* A session's: the device tells how far it has come (VCUDA_AHEAD_OFFSET). */
#define VCUDA_FEATURE_AHEAD 1u
#define VCUDA_SESSION_FEATURES VCUDA_FEATURE_AHEAD

/*
 * The version to speak with a peer that offers [peer_min, peer_max], or 0
 * where the ranges do not meet. Peer values are untrusted numbers.
 */
static inline __u32 vcuda_version_common(__u32 peer_min, __u32 peer_max)
{
	__u32 low = peer_min > VCUDA_VERSION_MIN ? peer_min : VCUDA_VERSION_MIN;
	__u32 high = peer_max < VCUDA_VERSION_MAX ? peer_max : VCUDA_VERSION_MAX;

	return low <= high ? high : 0;
}

#endif
