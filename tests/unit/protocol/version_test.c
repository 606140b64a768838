// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* Which version two sides speak. */
#include "case.h"
#include "version.h"

CASE(the_same_range) {
    EXPECT_EQ(vcuda_version_common(VCUDA_VERSION_MIN, VCUDA_VERSION_MAX), VCUDA_VERSION_MAX);
}

CASE(a_newer_peer_that_still_speaks_ours) {
    EXPECT_EQ(vcuda_version_common(VCUDA_VERSION_MIN, VCUDA_VERSION_MAX + 9), VCUDA_VERSION_MAX);
    EXPECT_EQ(vcuda_version_common(VCUDA_VERSION_MAX, 0xffffffff), VCUDA_VERSION_MAX);
}

CASE(no_common_version) {
    EXPECT_EQ(vcuda_version_common(VCUDA_VERSION_MAX + 1, VCUDA_VERSION_MAX + 9), 0);
    EXPECT_EQ(vcuda_version_common(0xffffffff, 0xffffffff), 0);
    EXPECT_EQ(vcuda_version_common(0, VCUDA_VERSION_MIN - 1), 0);
    EXPECT_EQ(vcuda_version_common(0, 0), 0);
}

CASE(ranges_that_are_none) {
    EXPECT_EQ(vcuda_version_common(VCUDA_VERSION_MAX, VCUDA_VERSION_MIN - 1), 0);
    EXPECT_EQ(vcuda_version_common(0xffffffff, 0), 0);
    EXPECT_EQ(vcuda_version_common(VCUDA_VERSION_MAX + 1, VCUDA_VERSION_MIN), 0);
}

/* Against the definition: the highest number that lies in both ranges. */
CASE(every_small_range) {
    __u32 min, max, v;

    for (min = 0; min < VCUDA_VERSION_MAX + 8; min++) {
        for (max = 0; max < VCUDA_VERSION_MAX + 8; max++) {
            __u32 best = 0;

            for (v = VCUDA_VERSION_MIN; v <= VCUDA_VERSION_MAX; v++)
                if (v >= min && v <= max)
                    best = v;
            EXPECT_EQ(vcuda_version_common(min, max), best);
        }
    }
}

#define CASES(X)                                                                                   \
    X(the_same_range)                                                                              \
    X(a_newer_peer_that_still_speaks_ours)                                                         \
    X(no_common_version)                                                                           \
    X(ranges_that_are_none)                                                                        \
    X(every_small_range)

SUITE(version, CASES)
