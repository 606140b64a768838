// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
#include "ring.h"

static void attach(struct vcuda_duplex *d, __u8 *base, enum vcuda_party party,
		   __u32 side_h, __u32 sub_offset, __u32 sub_bytes,
		   __u32 cmp_offset, __u32 cmp_bytes)
{
	int is_g = party == VCUDA_PARTY_G;

	memset(d, 0, sizeof(*d));
	d->own = (struct vcuda_side *)(base + (is_g ? 0 : side_h));
	d->peer = (const struct vcuda_side *)(base + (is_g ? side_h : 0));
	d->tx = base + (is_g ? sub_offset : cmp_offset);
	d->rx = base + (is_g ? cmp_offset : sub_offset);
	d->tx_size = is_g ? sub_bytes : cmp_bytes;
	d->rx_size = is_g ? cmp_bytes : sub_bytes;
}

void vcuda_duplex_session(struct vcuda_duplex *d, void *base, __u32 sub_bytes,
			  __u32 cmp_bytes, enum vcuda_party party)
{
	attach(d, base, party, VCUDA_SIDE_H_OFFSET, VCUDA_RINGS_OFFSET,
	       sub_bytes, VCUDA_RINGS_OFFSET + sub_bytes, cmp_bytes);
}

void vcuda_duplex_control(struct vcuda_duplex *d, void *page,
			  enum vcuda_party party)
{
	attach(d, page, party, VCUDA_CTL_SIDE_H_OFFSET, VCUDA_CTL_SUB_OFFSET,
	       VCUDA_CTL_RING_BYTES, VCUDA_CTL_CMP_OFFSET,
	       VCUDA_CTL_RING_BYTES);
}

int vcuda_tx_fits_now(struct vcuda_duplex *d, __u32 len)
{
	if (len > d->tx_size)
		return -EMSGSIZE;
	d->tx_seen = vcuda_load_acquire(&d->peer->cons);
	if (d->prod - d->tx_seen > d->tx_size || d->tx_seen & 7) {
		d->tx_seen = d->prod - d->tx_size;
		return -EPROTO;
	}
	return d->tx_size - (d->prod - d->tx_seen) >= len;
}

void vcuda_tx_put_wrapped(struct vcuda_duplex *d, __u32 at, const void *src,
			  __u32 len)
{
	__u32 first = d->tx_size - at;

	memcpy(d->tx + at, src, first);
	memcpy(d->tx, (const __u8 *)src + first, len - first);
}

/*
 * Copies the one record that waits from the line in which its end was read:
 * its length, or 0 if it is not there, or no longer.
 */
static __u32 take_news(const struct vcuda_duplex *d, void *buf, __u32 cap)
{
	const struct vcuda_side *peer = d->peer;

	if (d->rx_seen - d->cons != VCUDA_CACHE_LINE ||
	    cap < VCUDA_CACHE_LINE ||
	    vcuda_load_acquire(&peer->news_end) != d->rx_seen)
		return 0;
	memcpy(buf, peer->news, VCUDA_NEWS_MAX);
	memset((__u8 *)buf + VCUDA_NEWS_MAX, 0,
	       VCUDA_CACHE_LINE - VCUDA_NEWS_MAX);
	vcuda_read_barrier();
	if (vcuda_load_once(&peer->news_end) != d->rx_seen)
		return 0;
	return *(const __u32 *)buf == VCUDA_CACHE_LINE ? VCUDA_CACHE_LINE : 0;
}

/* Copies the next record of the ring, of `bytes` that are there: its length, or -EPROTO. */
static int take_from_ring(const struct vcuda_duplex *d, void *buf, __u32 cap,
			  __u32 min_len, __u32 bytes)
{
	__u32 at = d->cons & (d->rx_size - 1);
	__u32 first = d->rx_size - at;
	/* Records are 8-aligned: the length word never wraps. Read it once. */
	__u32 len = vcuda_load_once((const __u32 *)(d->rx + at));

	if (len < min_len || len > cap || len > bytes || len & 7)
		return -EPROTO;
	if (len <= first) {
		memcpy(buf, d->rx + at, len);
	} else {
		memcpy(buf, d->rx + at, first);
		memcpy((__u8 *)buf + first, d->rx, len - first);
	}
	*(__u32 *)buf = len; /* the length that was checked, not a later one */
	return len;
}

int vcuda_rx_take_now(struct vcuda_duplex *d, void *buf, __u32 cap,
		      __u32 min_len, __u32 bytes)
{
	int len = take_news(d, buf, cap);

	if (!len)
		len = take_from_ring(d, buf, cap, min_len, bytes);
	if (len < 0)
		return len;
	d->cons += len;
	vcuda_store_release(&d->own->cons, d->cons);
	return len;
}

void vcuda_wait_begin(struct vcuda_duplex *d, __u32 what)
{
	/* Epoch 0 is never used: a wait word of 0 means awake. */
	d->epoch = (d->epoch + 1) & 0x3fffffff;
	if (!d->epoch)
		d->epoch = 1;
	vcuda_store_once(&d->own->wait, d->epoch << 2 | what);
	vcuda_full_barrier();
}

void vcuda_wait_end(struct vcuda_duplex *d)
{
	vcuda_store_once(&d->own->wait, 0);
}
