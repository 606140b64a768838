/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Both ends of a pair of rings over one zeroed piece of memory, the way two
 * parties see it, and small helpers to send and to compare records.
 */
#ifndef VCUDA_TESTS_PAIR_H
#define VCUDA_TESTS_PAIR_H

#include "case.h"
#include "ring.h"

struct pair {
    struct vcuda_duplex g, h;
    /* What each side publishes. A test writes them to play a hostile peer. */
    struct vcuda_side *side_g, *side_h;
};

/* The control page's rings: small enough to try every position in them. */
#define SMALL_RING VCUDA_CTL_RING_BYTES

static __u8 pair_page[VCUDA_PAGE] __attribute__((aligned(4096)));

/* A fresh control page, whose indices have all run on to start (8-aligned). */
static inline struct pair pair_at(__u32 start) {
    struct pair p;

    memset(pair_page, 0, sizeof(pair_page));
    vcuda_duplex_control(&p.g, pair_page, VCUDA_PARTY_G);
    vcuda_duplex_control(&p.h, pair_page, VCUDA_PARTY_H);
    p.side_g = p.g.own;
    p.side_h = p.h.own;
    p.side_g->prod = p.side_g->cons = p.side_h->prod = p.side_h->cons = start;
    p.g.prod = p.g.cons = p.g.tx_seen = p.g.rx_seen = start;
    p.h.prod = p.h.cons = p.h.tx_seen = p.h.rx_seen = start;
    return p;
}

static inline struct pair pair_new(void) {
    return pair_at(0);
}

/* A record of len bytes, every byte of which depends on its place and on seed. */
static inline void make_record(void *to, __u32 len, __u8 seed) {
    __u8 *bytes = (__u8 *)to;
    __u32 i;

    for (i = 0; i < len; i++)
        bytes[i] = (__u8)(seed + i * 31 + (i >> 8));
    memcpy(to, &len, sizeof(len));
}

/* Sends a record, which must fit. */
static inline void send_record(CASE_ARG, struct vcuda_duplex *from, __u32 len, __u8 seed) {
    static __u8 record[SMALL_RING]; /* static: a kernel's stack is small */

    make_record(record, len, seed);
    EXPECT_EQ(vcuda_tx_fits(from, len), 1);
    vcuda_tx_put(from, 0, record, len);
    vcuda_tx_publish(from, len);
}

/* Takes a record and compares it with what send_record() of the same made. */
static inline void take_record(CASE_ARG, struct vcuda_duplex *at, __u32 len, __u8 seed) {
    static __u8 expected[SMALL_RING], got[SMALL_RING];

    make_record(expected, len, seed);
    EXPECT_EQ(vcuda_rx_take(at, got, sizeof(got), 8), len);
    EXPECT_SAME(got, expected, len);
}

#endif
