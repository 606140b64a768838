// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* A peer that writes nonsense is found out, and gets nothing for it. */
#include "pair.h"

#define MIN_LEN 32u
#define CAP 512u

/* Numbers that have broken somebody's ring: borders, signs, wraps, low bits. */
static const __u32 nasty[] = {
    0,          1,          2,          3,          4,          7,          8,
    9,          15,         16,         31,         32,         33,         504,
    508,        511,        512,        513,        516,        520,        1016,
    1020,       1023,       1024,       1025,       1028,       1032,       2040,
    2048,       2056,       0x7ffffff8, 0x7fffffff, 0x80000000, 0x80000008, 0xfffffbf8,
    0xfffffc00, 0xfffffc08, 0xfffffff0, 0xfffffff8, 0xfffffffc, 0xffffffff,
};

#define NASTY ((int)(sizeof(nasty) / sizeof(nasty[0])))

/*
 * Takes from h with buf guarded, and expects that a refusal changes nothing:
 * not the buffer, not our index.
 */
static int take_guarded(CASE_ARG, struct pair *p) {
    static __u8 buf[CAP + 64], untouched[CAP + 64];
    __u32 cons = p->side_h->cons;
    int got;

    memset(buf, 0xa5, sizeof(buf));
    memset(untouched, 0xa5, sizeof(untouched));
    got = vcuda_rx_take(&p->h, buf, CAP, MIN_LEN);
    if (got > 0) {
        EXPECT(got >= (int)MIN_LEN && got <= (int)CAP && got % 8 == 0);
        EXPECT_EQ(p->side_h->cons, cons + (__u32)got);
        EXPECT_SAME(buf + got, untouched, sizeof(buf) - (__u32)got);
    } else {
        EXPECT_EQ(p->side_h->cons, cons);
        EXPECT_EQ(p->h.cons, cons);
        EXPECT_SAME(buf, untouched, sizeof(buf));
    }
    return got;
}

/* The peer's prod, at every distance from our cons and wherever that stands. */
CASE(prod_is_nonsense) {
    __u32 start;
    int i;

    for (start = 0u - SMALL_RING; start != SMALL_RING; start += 8) {
        for (i = 0; i < NASTY; i++) {
            struct pair p = pair_at(start);
            int legal = nasty[i] <= SMALL_RING && nasty[i] % 8 == 0;

            p.side_g->prod = start + nasty[i];
            EXPECT_EQ(vcuda_rx_ready(&p.h), legal ? nasty[i] != 0 : -EPROTO);
            if (!legal)
                EXPECT_EQ(take_guarded(test, &p), -EPROTO);
        }
    }
}

/* A record's length, at every position in the ring, with much or little there. */
CASE(length_is_nonsense) {
    __u32 start, there;
    int i;

    for (start = 0; start < SMALL_RING; start += 8) {
        for (there = 8; there <= SMALL_RING; there += 8) {
            for (i = 0; i < NASTY; i++) {
                struct pair p = pair_at(start);
                __u32 len = nasty[i];
                int legal = len >= MIN_LEN && len <= CAP && len <= there && len % 8 == 0;

                vcuda_tx_put(&p.g, 0, &len, sizeof(len));
                vcuda_tx_publish(&p.g, there);
                EXPECT_EQ(take_guarded(test, &p), legal ? (int)len : -EPROTO);
            }
        }
    }
}

/* A peer once caught stays caught until it makes sense again: no skipping. */
CASE(nonsense_is_not_skipped) {
    struct pair p = pair_new();
    __u32 len = 12;

    vcuda_tx_put(&p.g, 0, &len, sizeof(len));
    vcuda_tx_publish(&p.g, 64);
    send_record(test, &p.g, 64, 1);
    EXPECT_EQ(take_guarded(test, &p), -EPROTO);
    EXPECT_EQ(take_guarded(test, &p), -EPROTO);
}

/* The peer's cons: it may not have read what we never wrote, nor un-read. */
CASE(cons_is_nonsense) {
    __u32 start, filled;
    int i;

    for (start = 0u - SMALL_RING; start != SMALL_RING; start += 64) {
        for (filled = 64; filled <= SMALL_RING; filled += 64) {
            for (i = 0; i < NASTY; i++) {
                struct pair p = pair_at(start);
                __u32 unread = nasty[i];
                int legal = unread <= SMALL_RING && unread % 8 == 0;
                int answer = legal ? unread <= SMALL_RING - 8 : -EPROTO;

                p.g.prod += filled;
                /* What we saw last leaves no room, so that it looks again. */
                p.g.tx_seen = p.g.prod - SMALL_RING;
                p.side_h->cons = p.g.prod - unread;
                EXPECT_EQ(vcuda_tx_fits(&p.g, 8), answer);
                if (!legal)
                    EXPECT_EQ(vcuda_tx_fits(&p.g, 8), -EPROTO);
            }
        }
    }
}

/* Whatever the peer claims, a write stays inside the outbound ring. */
CASE(writes_stay_in_the_ring) {
    static __u8 record[SMALL_RING];
    __u32 len, off;

    memset(record, 0xee, sizeof(record));
    for (off = 0; off < SMALL_RING; off += 8) {
        for (len = 8; len <= SMALL_RING - off; len += 56) {
            struct pair p = pair_at(off * 5);
            __u32 i;

            vcuda_tx_put(&p.g, off, record, len);
            for (i = 0; i < VCUDA_PAGE; i++)
                if (i < VCUDA_CTL_SUB_OFFSET || i >= VCUDA_CTL_SUB_OFFSET + SMALL_RING)
                    EXPECT(pair_page[i] != 0xee);
        }
    }
}

/* The copy carries the length that was checked, not what stands there later. */
CASE(length_in_the_copy_is_the_checked_one) {
    struct pair p = pair_new();
    __u32 len;
    __u8 buf[CAP];

    send_record(test, &p.g, 64, 1);
    EXPECT_EQ(vcuda_rx_take(&p.h, buf, sizeof(buf), MIN_LEN), 64);
    memcpy(&len, buf, sizeof(len));
    EXPECT_EQ(len, 64);
}

#define CASES(X)                                                                                   \
    X(prod_is_nonsense)                                                                            \
    X(length_is_nonsense)                                                                          \
    X(nonsense_is_not_skipped)                                                                     \
    X(cons_is_nonsense)                                                                            \
    X(writes_stay_in_the_ring)                                                                     \
    X(length_in_the_copy_is_the_checked_one)

SUITE(hostile, CASES)
