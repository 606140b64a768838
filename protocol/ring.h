/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * A pair of rings with one writer and one reader each: full duplex.
 *
 * Every record in a ring starts with its whole length in bytes (__u32), a
 * multiple of 8. Records are copied in and out, over the ring's end where need
 * be, so that the reader works on a private copy that the peer cannot change.
 *
 * The writer's steps:   vcuda_tx_fits, vcuda_tx_put... or what is written to
 *                       vcuda_tx_place, vcuda_tx_publish or vcuda_tx_tell, and
 *                       a notification if vcuda_must_wake(DATA) says so.
 * The reader's steps:   vcuda_rx_take, and a notification if
 *                       vcuda_must_wake(SPACE) says so.
 * Before sleeping:      vcuda_wait_begin, look once more, sleep,
 *                       vcuda_wait_end.
 *
 * Nothing here locks: the caller lets one thread at a time write and one at a
 * time read. All errors are negative errno values.
 */
#ifndef VCUDA_PROTOCOL_RING_H
#define VCUDA_PROTOCOL_RING_H

#include "barrier.h"
#include "layout.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/string.h>
#else
#include <errno.h>
#include <stddef.h>
#include <string.h>
#endif

/*
 * Copies the few 8-byte words of a header and its slots. For so few, what
 * compilers make of memcpy() with a length that they do not know (rep movs)
 * takes some 30 ns, a tenth of a call; the barrier keeps them from making it of
 * this.
 */
static inline void vcuda_copy_words(void *to, const void *from, __u32 words)
{
	__u32 i;

	for (i = 0; i + 2 <= words; i += 2) {
		memcpy((__u64 *)to + i, (const __u64 *)from + i, 16);
		vcuda_compiler_barrier();
	}
	if (i < words)
		memcpy((__u64 *)to + i, (const __u64 *)from + i, 8);
}

/* A side's private view of a pair of rings. Never in shared memory. */
struct vcuda_duplex {
	struct vcuda_side *own;
	const struct vcuda_side *peer;
	__u8 *tx;      /* outbound ring */
	const __u8 *rx; /* inbound ring */
	__u32 tx_size;
	__u32 rx_size;
	__u32 prod;     /* ours, the truth; own->prod is its copy */
	__u32 cons;     /* likewise */
	__u32 tx_seen;  /* peer's cons when last looked at */
	__u32 rx_seen;  /* peer's prod when last looked at */
	__u32 news_end; /* ours, as last written */
	__u32 epoch;    /* of our last sleep */
	__u32 notified; /* the peer's wait word that we last answered */
};

/* Which party this is: G made the memory (guest, frontend), H joined. */
enum vcuda_party { VCUDA_PARTY_G, VCUDA_PARTY_H };

/*
 * Attaches to a session's region 0 at base. Sizes are trusted: checked with
 * vcuda_ring_size_ok() before. The memory starts as zeroes.
 */
void vcuda_duplex_session(struct vcuda_duplex *d, void *base, __u32 sub_bytes,
			  __u32 cmp_bytes, enum vcuda_party party);

/* The same for a device's control page. */
void vcuda_duplex_control(struct vcuda_duplex *d, void *page,
			  enum vcuda_party party);

/*
 * Whether len bytes fit now: 1, 0 (wait for space), -EMSGSIZE (never), -EPROTO
 * (the peer's index is nonsense: cut the peer off).
 */
int vcuda_tx_fits_now(struct vcuda_duplex *d, __u32 len);

static inline int vcuda_tx_fits(struct vcuda_duplex *d, __u32 len)
{
	/* The peer's line is only fetched when the old news do not suffice. */
	if (d->tx_size - (d->prod - d->tx_seen) >= len)
		return 1;
	return vcuda_tx_fits_now(d, len);
}

/* What vcuda_tx_put() does with bytes that reach over the ring's end. */
void vcuda_tx_put_wrapped(struct vcuda_duplex *d, __u32 at, const void *src,
			  __u32 len);

/* Copies len bytes to offset off of the record under construction. */
static inline void vcuda_tx_put(struct vcuda_duplex *d, __u32 off,
				const void *src, __u32 len)
{
	__u32 at = (d->prod + off) & (d->tx_size - 1);

	if (len <= d->tx_size - at)
		memcpy(d->tx + at, src, len);
	else
		vcuda_tx_put_wrapped(d, at, src, len);
}

/*
 * Where the record under construction lies, for a writer that puts its len
 * bytes, which fit, together in the ring itself; NULL if it reaches over the
 * ring's end. Written only, never read: the peer can write there too.
 */
static inline void *vcuda_tx_place(struct vcuda_duplex *d, __u32 len)
{
	__u32 at = d->prod & (d->tx_size - 1);

	return len <= d->tx_size - at ? d->tx + at : NULL;
}

/* Makes the record of len bytes (multiple of 8) visible to the peer. */
static inline void vcuda_tx_publish(struct vcuda_duplex *d, __u32 len)
{
	d->prod += len;
	/* News of 2^32 bytes ago are not this record's. */
	if (d->prod == d->news_end)
		vcuda_store_once(&d->own->news_end, ++d->news_end);
	vcuda_store_release(&d->own->prod, d->prod);
}

/*
 * Publishes a record that takes one line of the ring as news: for what the peer
 * waits for. Of the record, which is in the ring as well, `words` of 8 bytes
 * (VCUDA_NEWS_MAX at most) are not padding.
 */
static inline void vcuda_tx_tell(struct vcuda_duplex *d, const void *record,
				 __u32 words)
{
	d->prod += VCUDA_CACHE_LINE;
	d->news_end = d->prod;
	vcuda_store_once(&d->own->news_end, d->news_end);
	vcuda_write_barrier();
	vcuda_copy_words(d->own->news, record, words);
	vcuda_store_release(&d->own->prod, d->prod);
}

/* Bytes that can be read, or -EPROTO. Here, since who waits looks at little else. */
static inline int vcuda_rx_bytes(struct vcuda_duplex *d)
{
	__u32 bytes;

	if (d->rx_seen == d->cons)
		d->rx_seen = vcuda_load_acquire(&d->peer->prod);
	bytes = d->rx_seen - d->cons;
	return bytes > d->rx_size || bytes & 7 ? -EPROTO : (int)bytes;
}

/* Whether a record waits: 1, 0, or -EPROTO. */
static inline int vcuda_rx_ready(struct vcuda_duplex *d)
{
	int bytes = vcuda_rx_bytes(d);

	return bytes < 0 ? bytes : bytes > 0;
}

/* What vcuda_rx_take() does with `bytes` that are there. */
int vcuda_rx_take_now(struct vcuda_duplex *d, void *buf, __u32 cap,
		      __u32 min_len, __u32 bytes);

/*
 * Copies the next record to buf: its length, 0 (none), or -EPROTO (index or
 * length is nonsense, or longer than cap: cut the peer off). A record is
 * consumed when this returns. min_len is the shortest legal record, >= 8.
 */
static inline int vcuda_rx_take(struct vcuda_duplex *d, void *buf, __u32 cap,
				__u32 min_len)
{
	int bytes = vcuda_rx_bytes(d);

	return bytes <= 0 ? bytes :
			    vcuda_rx_take_now(d, buf, cap, min_len, bytes);
}

/*
 * Whether the peer sleeps for what was just done (VCUDA_WAIT_DATA after a
 * publish, VCUDA_WAIT_SPACE after a take) and nobody has woken it yet. A true
 * answer obliges the caller to send exactly one notification. Any thread.
 */
static inline int vcuda_must_wake(struct vcuda_duplex *d, __u32 what)
{
	__u32 wait;

	/* Our index must be out before the peer's flag is read: the peer writes
	 * its flag, then reads our index.
	 */
	vcuda_full_barrier();
	wait = vcuda_load_once(&d->peer->wait);
	if (!(wait & what) || wait == vcuda_load_once(&d->notified))
		return 0;
	return vcuda_exchange(&d->notified, wait) != wait;
}

/* Announces a sleep for VCUDA_WAIT_* bits. Afterwards look again, then sleep. */
void vcuda_wait_begin(struct vcuda_duplex *d, __u32 what);
void vcuda_wait_end(struct vcuda_duplex *d);

#endif
