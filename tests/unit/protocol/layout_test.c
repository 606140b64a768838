// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Sizes and offsets that are the contract: kernel and user space, old and new
 * releases, must agree on each of them. A change here is a new version.
 */
#include "case.h"
#include "control.h"
#include "ioctl.h"
#include "local.h"
#include "record.h"
#include "ring.h"

#define AT(type, member, offset) EXPECT_EQ(offsetof(type, member), offset)

CASE(sides) {
    EXPECT_EQ(sizeof(struct vcuda_side), 384);
    /* A pair of the cache's lines for each word, so that polling stays local. */
    AT(struct vcuda_side, prod, 0);
    AT(struct vcuda_side, cons, 128);
    AT(struct vcuda_side, wait, 256);
    EXPECT(sizeof(struct vcuda_side) <= VCUDA_CTL_SIDE_H_OFFSET - VCUDA_CTL_SIDE_G_OFFSET);
}

CASE(records) {
    EXPECT_EQ(sizeof(struct vcuda_rec), 32);
    AT(struct vcuda_rec, call, 4);
    AT(struct vcuda_rec, flags, 6);
    AT(struct vcuda_rec, tag, 8);
    AT(struct vcuda_rec, ctx, 16);
    AT(struct vcuda_rec, status, 24);
    AT(struct vcuda_rec, deferred, 28);
    /* A longest record fits in the smallest ring. */
    EXPECT(VCUDA_REC_MAX % 8 == 0 && VCUDA_REC_MAX <= VCUDA_RING_MIN);
}

CASE(control_messages) {
    EXPECT_EQ(sizeof(struct vcuda_ctl), 64);
    AT(struct vcuda_ctl, op, 4);
    AT(struct vcuda_ctl, id, 8);
    AT(struct vcuda_ctl, session, 12);
    AT(struct vcuda_ctl, status, 16);
    AT(struct vcuda_ctl, region, 20);
    AT(struct vcuda_ctl, pages, 24);
    AT(struct vcuda_ctl, dir_ref, 28);
    AT(struct vcuda_ctl, port, 32);
    AT(struct vcuda_ctl, sub_bytes, 36);
    AT(struct vcuda_ctl, cmp_bytes, 40);
    AT(struct vcuda_ctl, version, 44);
    AT(struct vcuda_ctl, features, 48);
    EXPECT_EQ(sizeof(struct vcuda_directory), VCUDA_PAGE);
}

/* The numbers under which the kernel knows our ioctls. */
CASE(ioctls) {
    EXPECT_EQ(VCUDA_IOC_OPEN, 0xc0185601);
    EXPECT_EQ(VCUDA_IOC_REGION_ADD, 0xc0105602);
    EXPECT_EQ(VCUDA_IOC_REGION_DEL, 0x40105603);
    EXPECT_EQ(VCUDA_IOC_SESSION_INFO, 0x80185610);
    EXPECT_EQ(VCUDA_IOC_REGION_INFO, 0xc0105611);
    EXPECT_EQ(VCUDA_IOC_COUNTERS, 0x80205612);
    EXPECT_EQ(VCUDA_HOST_IOC_NEXT, 0x80105620);
    EXPECT_EQ(VCUDA_HOST_IOC_CLAIM, 0x40105621);
    EXPECT_EQ(VCUDA_HOST_IOC_REFUSE, 0x40105622);
}

CASE(regions_do_not_overlap_in_the_file) {
    __u64 longest = (__u64)VCUDA_REGION_PAGES_MAX * VCUDA_PAGE;

    EXPECT_EQ(vcuda_region_offset(0), 0);
    EXPECT(vcuda_region_offset(1) >= longest);
    EXPECT(vcuda_region_offset(VCUDA_REGIONS_MAX - 1) <= ~0ull >> 1);
    EXPECT_EQ(vcuda_region_offset(5) - vcuda_region_offset(4), vcuda_region_offset(1));
}

CASE(local_messages) {
    EXPECT_EQ(sizeof(struct vcuda_local_msg), 40);
    AT(struct vcuda_local_msg, bytes, 32);
}

/* Both parties of a session, over rings of two sizes, look at the same bytes. */
CASE(parties_agree) {
    static __u8 base[8192 + (192 << 10)];
    struct vcuda_duplex g, h;

    vcuda_duplex_session(&g, base, 64 << 10, 128 << 10, VCUDA_PARTY_G);
    vcuda_duplex_session(&h, base, 64 << 10, 128 << 10, VCUDA_PARTY_H);
    EXPECT((__u8 *)g.own == base && (const __u8 *)h.peer == base);
    EXPECT((__u8 *)h.own == base + 4096 && (const __u8 *)g.peer == base + 4096);
    EXPECT(g.tx == base + 8192 && h.rx == base + 8192);
    EXPECT(h.tx == base + 8192 + (64 << 10) && g.rx == base + 8192 + (64 << 10));
    EXPECT(g.tx_size == 64 << 10 && h.rx_size == 64 << 10);
    EXPECT(h.tx_size == 128 << 10 && g.rx_size == 128 << 10);
    EXPECT_EQ(vcuda_rings_bytes(64 << 10, 128 << 10), 8192 + (192 << 10));
    EXPECT_EQ(vcuda_rings_bytes(0x80000000, 0x80000000), 8192 + 0x100000000ll);
}

#define CASES(X)                                                                                   \
    X(sides)                                                                                       \
    X(records)                                                                                     \
    X(control_messages)                                                                            \
    X(ioctls)                                                                                      \
    X(regions_do_not_overlap_in_the_file)                                                          \
    X(local_messages)                                                                              \
    X(parties_agree)

SUITE(layout, CASES)
