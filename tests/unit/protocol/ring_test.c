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
    X(nobody_writes_the_others_part)                                                               \
    X(taken_records_are_copies)

SUITE(ring, CASES)
