/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * The memory that two sides share.
 *
 * A session joins one guest process (side G) with one worker (side H). Its
 * memory is a set of regions, each a run of whole pages that G owns:
 *
 *   region 0, "the rings"                      regions 1..N, "the arena"
 *   +--------------------+ 0                   +---------------------+
 *   | struct vcuda_side G| written by G        | bulk data, mapped at|
 *   +--------------------+ 4096                | the same address in |
 *   | struct vcuda_side H| written by H        | program and worker, |
 *   +--------------------+ 8192                | registered with the |
 *   | submission ring    | G writes, H reads   | GPU driver once     |
 *   +--------------------+ 8192 + sub_bytes    +---------------------+
 *   | completion ring    | H writes, G reads
 *   +--------------------+ 8192 + sub_bytes + cmp_bytes
 *
 * The control channel between the two kernels (frontend = G, backend = H) is
 * one page of the same make, see VCUDA_CTL_* below.
 *
 * One writer a word: G alone writes side G and the submission ring, H alone
 * writes side H and the completion ring. Neither believes a word of the other:
 * each keeps its own indices in private memory and checks the peer's.
 */
#ifndef VCUDA_PROTOCOL_LAYOUT_H
#define VCUDA_PROTOCOL_LAYOUT_H

#include <linux/types.h>

#define VCUDA_PAGE 4096u
#define VCUDA_CACHE_LINE 64

/*
 * What one side publishes. Indices count bytes, run freely modulo 2^32 and are
 * multiples of 8; prod - cons is the number of bytes in a ring.
 *
 * news: a copy of the record that ends at index news_end, where that record
 * takes a single line of the ring: who looks at prod has it along with the
 * index, and need not wait for the ring's line. The ring holds it all the same.
 * The writer changes news_end, then news, then prod; the reader takes the copy
 * only if news_end is prod before and after. news_end 0 and news of length 0,
 * as all begins, stand for none.
 *
 * prod, cons and wait lie in a pair of lines each, since processors fetch lines
 * in pairs: who looks for news would take the peer's other words from it.
 *
 * wait: 0 while the side runs; else (epoch << 2) | VCUDA_WAIT_* bits while it
 * sleeps, or is about to. The epoch is new for each sleep, so that the peer can
 * tell a sleep that it has already sent a notification for.
 */
#define VCUDA_NEWS_MAX 56u

struct vcuda_side {
	__u32 prod; /* bytes this side has written into its outbound ring */
	__u32 news_end;
	__u64 news[VCUDA_NEWS_MAX / 8];
	__u32 pad0[16];
	__u32 cons; /* bytes this side has read from its inbound ring */
	__u32 pad1[31];
	__u32 wait;
	__u32 pad2[31];
};

#define VCUDA_WAIT_DATA 1u  /* wake me when my inbound ring has a record */
#define VCUDA_WAIT_SPACE 2u /* wake me when my outbound ring was read from */

/* Region 0 of a session. */
#define VCUDA_SIDE_G_OFFSET 0u
#define VCUDA_SIDE_H_OFFSET VCUDA_PAGE
#define VCUDA_RINGS_OFFSET (2u * VCUDA_PAGE)

/* A ring is a power of two of bytes within these bounds. */
#define VCUDA_RING_MIN (64u * 1024)
#define VCUDA_RING_MAX (4u * 1024 * 1024)
#define VCUDA_RING_DEFAULT (256u * 1024)

/*
 * Host functions that the worker waits for, each at a place of its own: the
 * serial of the one that has run, a word each in G's page, written by G. Words
 * and not records: a driver may stand still until a host function has run, and
 * the reader of the records with it.
 */
#define VCUDA_HOST_DONE_OFFSET 1024u
#define VCUDA_HOST_PLACES 64u

/*
 * A wait that the GPU itself tells the program of: the upper half of the call's
 * tag, in H's page, written by the device once the stream has come so far. Such
 * a call, which VCUDA_REC_LOOKS permitted, has no completion.
 */
#define VCUDA_TOLD_OFFSET (VCUDA_SIDE_H_OFFSET + 1024u)

/*
 * How far the device has come in streams, a word each, in H's page: the number
 * of the last mark that it has passed, written by itself (stream_mark). Which
 * stream has which word is G's affair, and so are the numbers.
 */
#define VCUDA_AHEAD_OFFSET (VCUDA_SIDE_H_OFFSET + 2048u)
#define VCUDA_AHEAD_WORDS 512u

/* The control page of a device. */
#define VCUDA_CTL_SIDE_G_OFFSET 0u
#define VCUDA_CTL_SIDE_H_OFFSET 512u
#define VCUDA_CTL_RING_BYTES 1024u
#define VCUDA_CTL_SUB_OFFSET 1024u /* frontend to backend */
#define VCUDA_CTL_CMP_OFFSET 2048u /* backend to frontend */

/* Regions of a session, the rings included. */
#define VCUDA_REGIONS_MAX 256u
/* Pages of one region: 4 GiB. */
#define VCUDA_REGION_PAGES_MAX (1u << 20)

/* Bytes of region 0 for these ring sizes. */
static inline __u64 vcuda_rings_bytes(__u32 sub_bytes, __u32 cmp_bytes)
{
	return (__u64)VCUDA_RINGS_OFFSET + sub_bytes + cmp_bytes;
}

/* Whether a ring may have this size. */
static inline int vcuda_ring_size_ok(__u32 bytes)
{
	return bytes >= VCUDA_RING_MIN && bytes <= VCUDA_RING_MAX &&
	       !(bytes & (bytes - 1));
}

#endif
