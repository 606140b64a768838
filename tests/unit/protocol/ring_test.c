// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* Records between two parties that both keep the rules. */
#include "pair.h"

CASE(empty_at_first) {
    struct pair p = pair_new();
    __u8 buf[64];

    EXPECT_EQ(vcuda_rx_ready(&p.g), 0);
    EXPECT_EQ(vcuda_rx_ready(&p.h), 0);
    EXPECT_EQ(vcuda_rx_take(&p.h, buf, sizeof(buf), 8), 0);
    EXPECT_EQ(vcuda_tx_fits(&p.g, SMALL_RING), 1);
    EXPECT_EQ(vcuda_tx_fits(&p.h, SMALL_RING), 1);
}

CASE(unpublished_is_unseen) {
    struct pair p = pair_new();
    __u8 record[64];

    make_record(record, sizeof(record), 1);
    vcuda_tx_put(&p.g, 0, record, sizeof(record));
    EXPECT_EQ(vcuda_rx_ready(&p.h), 0);
    vcuda_tx_publish(&p.g, sizeof(record));
    EXPECT_EQ(vcuda_rx_ready(&p.h), 1);
    take_record(test, &p.h, sizeof(record), 1);
    EXPECT_EQ(vcuda_rx_ready(&p.h), 0);
}

/* Wherever a record starts, over the ring's end too, and however long it is. */
CASE(every_length_at_every_position) {
    __u32 start, len;

    for (start = 0; start < SMALL_RING; start += 8) {
        for (len = 8; len <= SMALL_RING; len += 8) {
            struct pair p = pair_at(start);

            send_record(test, &p.g, len, (__u8)start);
            take_record(test, &p.h, len, (__u8)start);
        }
    }
}

CASE(indices_run_over_32_bits) {
    struct pair p = pair_at(0u - 4 * 56);
    int i;

    for (i = 0; i < 8; i++) {
        send_record(test, &p.g, 56, (__u8)i);
        send_record(test, &p.h, 56, (__u8)~i);
        take_record(test, &p.h, 56, (__u8)i);
        take_record(test, &p.g, 56, (__u8)~i);
    }
    EXPECT_EQ(p.side_g->prod, 4 * 56);
    EXPECT_EQ(p.side_h->cons, 4 * 56);
}

CASE(full_to_the_last_byte) {
    struct pair p = pair_at(40);
    __u32 i;

    for (i = 0; i < SMALL_RING / 64; i++)
        send_record(test, &p.g, 64, (__u8)i);
    EXPECT_EQ(vcuda_tx_fits(&p.g, 8), 0);
    EXPECT_EQ(vcuda_tx_fits(&p.g, 0), 1);
    take_record(test, &p.h, 64, 0);
    EXPECT_EQ(vcuda_tx_fits(&p.g, 72), 0);
    send_record(test, &p.g, 64, (__u8)i);
    EXPECT_EQ(vcuda_tx_fits(&p.g, 8), 0);
    for (i = 1; i <= SMALL_RING / 64; i++)
        take_record(test, &p.h, 64, (__u8)i);
    EXPECT_EQ(vcuda_rx_ready(&p.h), 0);
}

CASE(longer_than_the_ring_never_fits) {
    struct pair p = pair_new();

    EXPECT_EQ(vcuda_tx_fits(&p.g, SMALL_RING + 8), -EMSGSIZE);
    EXPECT_EQ(vcuda_tx_fits(&p.g, ~0u), -EMSGSIZE);
}

CASE(records_keep_their_order) {
    struct pair p = pair_at(SMALL_RING - 24);
    __u32 i, len;

    for (i = 0, len = 8; i < 10; i++, len += 16)
        send_record(test, &p.g, len, (__u8)i);
    for (i = 0, len = 8; i < 10; i++, len += 16)
        take_record(test, &p.h, len, (__u8)i);
    EXPECT_EQ(vcuda_rx_ready(&p.h), 0);
}

/* A record written in pieces, out of order, is the record. */
CASE(pieces_make_a_record) {
    struct pair p = pair_at(SMALL_RING - 16);
    __u8 record[96];

    make_record(record, sizeof(record), 9);
    vcuda_tx_put(&p.g, 40, record + 40, 56);
    vcuda_tx_put(&p.g, 8, record + 8, 32);
    vcuda_tx_put(&p.g, 0, record, 8);
    vcuda_tx_publish(&p.g, sizeof(record));
    take_record(test, &p.h, sizeof(record), 9);
}

/* A record can be put together in the ring, up to the very end of it. */
CASE(a_record_is_put_together_in_place) {
    struct pair p = pair_at(3 * SMALL_RING - 96);
    void *place;

    EXPECT_EQ(vcuda_tx_fits(&p.g, 96), 1);
    EXPECT(!vcuda_tx_place(&p.g, 104));
    place = vcuda_tx_place(&p.g, 96);
    EXPECT(place);
    make_record(place, 96, 5);
    EXPECT_EQ(vcuda_rx_ready(&p.h), 0);
    vcuda_tx_publish(&p.g, 96);
    take_record(test, &p.h, 96, 5);
    EXPECT(vcuda_tx_place(&p.g, SMALL_RING) == p.g.tx);
}

/* Each word of the shared page has one writer: nobody writes the other's part. */
CASE(nobody_writes_the_others_part) {
    static __u8 before[VCUDA_PAGE];
    struct pair p = pair_at(SMALL_RING - 8);

    memcpy(before, pair_page, VCUDA_PAGE);
    send_record(test, &p.g, 128, 3);
    EXPECT_SAME(pair_page + VCUDA_CTL_SIDE_H_OFFSET, before + VCUDA_CTL_SIDE_H_OFFSET,
                VCUDA_CTL_SUB_OFFSET - VCUDA_CTL_SIDE_H_OFFSET);
    EXPECT_SAME(pair_page + VCUDA_CTL_CMP_OFFSET, before + VCUDA_CTL_CMP_OFFSET,
                VCUDA_PAGE - VCUDA_CTL_CMP_OFFSET);

    memcpy(before, pair_page, VCUDA_PAGE);
    take_record(test, &p.h, 128, 3);
    vcuda_wait_begin(&p.h, VCUDA_WAIT_DATA);
    vcuda_wait_end(&p.h);
    send_record(test, &p.h, 64, 4);
    EXPECT_SAME(pair_page, before, VCUDA_CTL_SIDE_H_OFFSET);
    EXPECT_SAME(pair_page + VCUDA_CTL_SUB_OFFSET, before + VCUDA_CTL_SUB_OFFSET,
                VCUDA_CTL_RING_BYTES);
    EXPECT_SAME(pair_page + VCUDA_CTL_CMP_OFFSET + VCUDA_CTL_RING_BYTES,
                before + VCUDA_CTL_CMP_OFFSET + VCUDA_CTL_RING_BYTES,
                VCUDA_PAGE - VCUDA_CTL_CMP_OFFSET - VCUDA_CTL_RING_BYTES);
}

/* The reader consumes as it takes: what it took may be overwritten at once. */
CASE(taken_records_are_copies) {
    struct pair p = pair_new();
    static __u8 first[512], expected[512];

    send_record(test, &p.g, 512, 1);
    EXPECT_EQ(vcuda_rx_take(&p.h, first, sizeof(first), 8), 512);
    send_record(test, &p.g, 512, 2);
    send_record(test, &p.g, 512, 3);
    make_record(expected, 512, 1);
    EXPECT_SAME(first, expected, 512);
    take_record(test, &p.h, 512, 2);
    take_record(test, &p.h, 512, 3);
}

static void tell_record(CASE_ARG, struct vcuda_duplex *from, __u8 seed) {
    __u8 record[VCUDA_CACHE_LINE];

    make_record(record, sizeof(record), seed);
    memset(record + VCUDA_NEWS_MAX, 0, sizeof(record) - VCUDA_NEWS_MAX);
    EXPECT_EQ(vcuda_tx_fits(from, sizeof(record)), 1);
    vcuda_tx_put(from, 0, record, VCUDA_NEWS_MAX);
    vcuda_tx_tell(from, record, VCUDA_NEWS_MAX / 8);
}

/* What is told: the record's bytes before the padding, and zeroes. */
static void take_told(CASE_ARG, struct vcuda_duplex *at, __u8 seed) {
    __u8 expected[VCUDA_CACHE_LINE], got[VCUDA_CACHE_LINE];

    make_record(expected, sizeof(expected), seed);
    EXPECT_EQ(vcuda_rx_take(at, got, sizeof(got), 8), sizeof(got));
    EXPECT_SAME(got, expected, VCUDA_NEWS_MAX);
}

/* The record is not looked for in the ring: there is something else by then. */
CASE(news_come_with_the_index) {
    struct pair p = pair_at(2 * SMALL_RING);

    tell_record(test, &p.g, 5);
    memset(p.g.tx, 0xee, VCUDA_CACHE_LINE);
    take_told(test, &p.h, 5);
    EXPECT_EQ(vcuda_rx_ready(&p.h), 0);
}

/* Of several the last may be news, those before it stand in the ring. */
CASE(news_among_others) {
    struct pair p = pair_at(3 * SMALL_RING - 128);

    tell_record(test, &p.g, 1);
    tell_record(test, &p.g, 2);
    send_record(test, &p.g, 128, 3);
    take_told(test, &p.h, 1);
    take_told(test, &p.h, 2);
    take_record(test, &p.h, 128, 3);
    send_record(test, &p.g, 64, 4);
    tell_record(test, &p.g, 5);
    take_record(test, &p.h, 64, 4);
    take_told(test, &p.h, 5);
}

/* Seen, then overtaken by the next before it is taken: it stands in the ring. */
CASE(old_news_stand_in_the_ring) {
    struct pair p = pair_new();

    tell_record(test, &p.g, 1);
    EXPECT_EQ(vcuda_rx_ready(&p.h), 1);
    tell_record(test, &p.g, 2);
    take_told(test, &p.h, 1);
    take_told(test, &p.h, 2);
}

/* The same index comes again after 2^32 bytes: what was told there once is not told again. */
CASE(news_do_not_come_again) {
    struct pair p = pair_at(64);

    tell_record(test, &p.g, 1);
    take_told(test, &p.h, 1);
    p.g.prod = p.h.cons = p.g.tx_seen = p.h.rx_seen = 64;
    p.g.own->prod = p.h.own->cons = 64;
    send_record(test, &p.g, 64, 2);
    take_record(test, &p.h, 64, 2);
}

/* News that cannot be the record that they claim to be are no news. */
CASE(nonsense_is_no_news) {
    struct pair p = pair_new();
    __u32 len;

    for (len = 0; len < 200; len += 8) {
        if (len == VCUDA_CACHE_LINE)
            continue;
        tell_record(test, &p.g, (__u8)len);
        memcpy(p.g.own->news, &len, sizeof(len));
        take_told(test, &p.h, (__u8)len);
    }
    send_record(test, &p.g, 32, 1);
    p.g.own->news_end = p.g.prod;
    take_record(test, &p.h, 32, 1);
}

#define CASES(X)                                                                                   \
    X(empty_at_first)                                                                              \
    X(unpublished_is_unseen)                                                                       \
    X(every_length_at_every_position)                                                              \
    X(indices_run_over_32_bits)                                                                    \
    X(full_to_the_last_byte)                                                                       \
    X(longer_than_the_ring_never_fits)                                                             \
    X(records_keep_their_order)                                                                    \
    X(pieces_make_a_record)                                                                        \
    X(a_record_is_put_together_in_place)                                                           \
    X(news_come_with_the_index)                                                                    \
    X(news_among_others)                                                                           \
    X(old_news_stand_in_the_ring)                                                                  \
    X(news_do_not_come_again)                                                                      \
    X(nonsense_is_no_news)                                                                         \
    X(nobody_writes_the_others_part)                                                               \
    X(taken_records_are_copies)

SUITE(ring, CASES)
