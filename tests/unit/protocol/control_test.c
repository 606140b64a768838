// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* Which requests of a frontend make sense. */
#include "control.h"
#include "pair.h"

static struct vcuda_ctl request(__u16 op) {
    struct vcuda_ctl c = {
        .len = sizeof(c),
        .op = op,
        .id = 7,
        .session = 3,
        .region = 1,
        .pages = op == VCUDA_CTL_OPEN ? (2 * VCUDA_PAGE + 2 * VCUDA_RING_MIN) / VCUDA_PAGE : 1,
        .sub_bytes = VCUDA_RING_MIN,
        .cmp_bytes = VCUDA_RING_MIN,
    };

    return c;
}

CASE(every_operation) {
    __u32 op;

    for (op = 0; op <= 0xffff; op++) {
        struct vcuda_ctl c = request((__u16)op);
        int known = op == VCUDA_CTL_OPEN || op == VCUDA_CTL_REGION_ADD ||
                    op == VCUDA_CTL_REGION_DEL || op == VCUDA_CTL_CLOSE;

        EXPECT_EQ(vcuda_ctl_check_request(&c), known ? 0 : -EINVAL);
    }
}

CASE(length_must_be_its_own) {
    __u32 len;

    for (len = 0; len < 256; len++) {
        struct vcuda_ctl c = request(VCUDA_CTL_CLOSE);

        c.len = len;
        EXPECT_EQ(vcuda_ctl_check_request(&c), len == sizeof(c) ? 0 : -EINVAL);
    }
}

CASE(ring_sizes) {
    static const __u32 good[] = {64 << 10, 128 << 10, 256 << 10, 512 << 10,
                                 1 << 20,  2 << 20,   4 << 20};
    static const __u32 bad[] = {0,          1,         4096,          32 << 10,         65535,
                                65537,      96 << 10,  (4 << 20) + 1, (4 << 20) + 4096, 8 << 20,
                                0x80000000, 0xffffffff};
    int i, j;

    for (i = 0; i < (int)(sizeof(good) / 4); i++) {
        for (j = 0; j < (int)(sizeof(good) / 4); j++) {
            struct vcuda_ctl c = request(VCUDA_CTL_OPEN);

            c.sub_bytes = good[i];
            c.cmp_bytes = good[j];
            c.pages = 2 + (good[i] + good[j]) / VCUDA_PAGE;
            EXPECT_EQ(vcuda_ctl_check_request(&c), 0);
            c.pages--;
            EXPECT_EQ(vcuda_ctl_check_request(&c), -EINVAL);
            c.pages += 2;
            EXPECT_EQ(vcuda_ctl_check_request(&c), -EINVAL);
        }
    }
    for (i = 0; i < (int)(sizeof(bad) / 4); i++) {
        struct vcuda_ctl c = request(VCUDA_CTL_OPEN);

        EXPECT_EQ(vcuda_ring_size_ok(bad[i]), 0);
        c.sub_bytes = bad[i];
        c.pages = (__u32)(vcuda_rings_bytes(c.sub_bytes, c.cmp_bytes) / VCUDA_PAGE);
        EXPECT_EQ(vcuda_ctl_check_request(&c), -EINVAL);
        c = request(VCUDA_CTL_OPEN);
        c.cmp_bytes = bad[i];
        c.pages = (__u32)(vcuda_rings_bytes(c.sub_bytes, c.cmp_bytes) / VCUDA_PAGE);
        EXPECT_EQ(vcuda_ctl_check_request(&c), -EINVAL);
    }
}

CASE(region_numbers) {
    static const __u16 ops[] = {VCUDA_CTL_REGION_ADD, VCUDA_CTL_REGION_DEL};
    __u32 region;
    int i;

    for (i = 0; i < 2; i++) {
        struct vcuda_ctl c = request(ops[i]);

        for (region = 0; region < 2 * VCUDA_REGIONS_MAX; region++) {
            c.region = region;
            /* Region 0 is the rings: it comes and goes with the session. */
            EXPECT_EQ(vcuda_ctl_check_request(&c),
                      region >= 1 && region < VCUDA_REGIONS_MAX ? 0 : -EINVAL);
        }
        c.region = ~0u;
        EXPECT_EQ(vcuda_ctl_check_request(&c), -EINVAL);
    }
}

CASE(region_pages) {
    static const struct {
        __u32 pages;
        int answer;
    } table[] = {
        {0, -EINVAL},
        {1, 0},
        {VCUDA_REGION_PAGES_MAX, 0},
        {VCUDA_REGION_PAGES_MAX + 1, -EINVAL},
        {0x80000000, -EINVAL},
        {0xffffffff, -EINVAL},
    };
    int i;

    for (i = 0; i < (int)(sizeof(table) / sizeof(table[0])); i++) {
        struct vcuda_ctl c = request(VCUDA_CTL_REGION_ADD);

        c.pages = table[i].pages;
        EXPECT_EQ(vcuda_ctl_check_request(&c), table[i].answer);
    }
}

CASE(directory_pages) {
    EXPECT_EQ(VCUDA_DIRECTORY_REFS, 1022);
    EXPECT_EQ(vcuda_directory_pages(0), 0);
    EXPECT_EQ(vcuda_directory_pages(1), 1);
    EXPECT_EQ(vcuda_directory_pages(1022), 1);
    EXPECT_EQ(vcuda_directory_pages(1023), 2);
    EXPECT_EQ(vcuda_directory_pages(2 * 1022), 2);
    EXPECT_EQ(vcuda_directory_pages(VCUDA_REGION_PAGES_MAX),
              (VCUDA_REGION_PAGES_MAX + 1021) / 1022);
}

/* All requests that may be open, then all their replies, fit at once. */
CASE(replies_always_fit) {
    struct pair p = pair_new();
    __u32 i;

    for (i = 0; i < VCUDA_CTL_REQUESTS_MAX; i++)
        send_record(test, &p.g, sizeof(struct vcuda_ctl), (__u8)i);
    for (i = 0; i < VCUDA_CTL_REQUESTS_MAX; i++) {
        take_record(test, &p.h, sizeof(struct vcuda_ctl), (__u8)i);
        send_record(test, &p.h, sizeof(struct vcuda_ctl), (__u8)i);
    }
    EXPECT_EQ(vcuda_tx_fits(&p.h, sizeof(struct vcuda_ctl)), 1);
}

#define CASES(X)                                                                                   \
    X(every_operation)                                                                             \
    X(length_must_be_its_own)                                                                      \
    X(ring_sizes)                                                                                  \
    X(region_numbers)                                                                              \
    X(region_pages)                                                                                \
    X(directory_pages)                                                                             \
    X(replies_always_fit)

SUITE(control, CASES)
