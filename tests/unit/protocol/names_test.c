// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* The guest's names for objects. */
#include "case.h"
#include "record.h"

static const __u32 generations[] = {0, 1, 2, 0x7fff, 0x8000, 0xfffe, 0xffff};
static const __u32 indices[] = {0, 1, 15, 16, 0xff, 0x8000, 0xfffff - 1, VCUDA_NAME_INDEX_MAX};

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

CASE(a_name_gives_its_parts_back) {
    int kind, g, i;

    for (kind = VCUDA_KIND_CONTEXT; kind < VCUDA_KIND_MAX; kind++) {
        for (g = 0; g < COUNT(generations); g++) {
            for (i = 0; i < COUNT(indices); i++) {
                __u64 name = vcuda_name((enum vcuda_kind)kind, generations[g], indices[i]);

                EXPECT_EQ(vcuda_name_kind(name), kind);
                EXPECT_EQ(vcuda_name_generation(name), generations[g]);
                EXPECT_EQ(vcuda_name_index(name), indices[i]);
                /* Never NULL nor the special streams 1 and 2; aligned. */
                EXPECT(name > 2);
                EXPECT_EQ(name % 16, 0);
            }
        }
    }
}

CASE(generations_run_over) {
    EXPECT_EQ(vcuda_name(VCUDA_KIND_EVENT, 0x10001, 5), vcuda_name(VCUDA_KIND_EVENT, 1, 5));
    EXPECT(vcuda_name(VCUDA_KIND_EVENT, 0xffff, 5) != vcuda_name(VCUDA_KIND_EVENT, 0, 5));
}

/* What a program may pass that is no name: small numbers, pointers, -1. */
CASE(wild_values_are_of_no_kind) {
    __u64 name = vcuda_name(VCUDA_KIND_STREAM, 3, 4);
    int bit;

    EXPECT_EQ(vcuda_name_kind(0), VCUDA_KIND_NONE);
    for (bit = 1; bit < 16; bit++)
        EXPECT_EQ(vcuda_name_kind(name | (__u64)bit), VCUDA_KIND_NONE);
    for (bit = 46; bit < 64; bit++)
        EXPECT_EQ(vcuda_name_kind(name | 1ull << bit), VCUDA_KIND_NONE);
    EXPECT_EQ(vcuda_name_kind(~0ull), VCUDA_KIND_NONE);
    EXPECT_EQ(vcuda_name_kind(~0ull << 4), VCUDA_KIND_NONE);
    EXPECT_EQ(vcuda_name_kind(0x00007ffdeadbeef0ull), VCUDA_KIND_NONE);
}

#define CASES(X)                                                                                   \
    X(a_name_gives_its_parts_back)                                                                 \
    X(generations_run_over)                                                                        \
    X(wild_values_are_of_no_kind)

SUITE(names, CASES)
