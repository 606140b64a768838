// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* Which bytes a copy of rows and slices touches: what the worker checks before the driver goes. */
#include "case.h"
#include "copy3d.h"

#define MOST 0xffffffffffffffffull

static struct vcuda_copy3d box(__u64 width, __u64 rows, __u64 slices) {
    struct vcuda_copy3d c = {.width = width, .rows = rows, .slices = slices};

    c.form = VCUDA_FORM_3D;
    c.src.base = 0x1000;
    c.src.pitch = 100;
    c.src.height = 10;
    return c;
}

/* The same by looking at every byte. */
static void slowly(const struct vcuda_copy3d *c, __u64 *first, __u64 *bytes) {
    __u64 low = MOST, high = 0;

    for (__u64 z = 0; z < c->slices; z++) {
        for (__u64 y = 0; y < c->rows; y++) {
            for (__u64 x = 0; x < c->width; x++) {
                __u64 at = c->src.base + c->src.x + x +
                           c->src.pitch * (c->src.y + y + c->src.height * (c->src.z + z));

                low = at < low ? at : low;
                high = at > high ? at : high;
            }
        }
    }
    *first = low;
    *bytes = high - low + 1;
}

CASE(every_small_box) {
    __u64 first, bytes, first_wanted, bytes_wanted;

    for (int i = 1; i < 4 * 4 * 4 * 8; i++) {
        struct vcuda_copy3d c = box(1 + i % 4, 1 + i / 4 % 4, 1 + i / 16 % 4);

        c.src.x = i / 64 & 1 ? 5 : 0;
        c.src.y = i / 64 & 2 ? 3 : 0;
        c.src.z = i / 64 & 4 ? 2 : 0;
        bytes = vcuda_place_span(&c, &c.src, &first);
        slowly(&c, &first_wanted, &bytes_wanted);
        EXPECT_EQ(first, first_wanted);
        EXPECT_EQ(bytes, bytes_wanted);
        EXPECT(vcuda_place_apart(&c, &c.src));
    }
}

CASE(nothing_to_copy) {
    struct vcuda_copy3d none[] = {box(0, 1, 1), box(1, 0, 1), box(1, 1, 0)};
    __u64 first;

    for (int i = 0; i < 3; i++)
        EXPECT_EQ(vcuda_place_span(&none[i], &none[i].src, &first), 0);
}

/* Whatever field is too large, no sum or product of it comes round to something small. */
CASE(beyond_the_address_space) {
    __u64 first;

    for (int i = 0; i < 9; i++) {
        /* The last three are only added to; the others are multiplied by 10 at least. */
        for (int shift = 0; shift < (i < 6 ? 4 : 1); shift++) {
            struct vcuda_copy3d c = box(8, 4, 2);
            __u64 *fields[] = {&c.src.y,  &c.src.z,    &c.src.pitch, &c.src.height, &c.rows,
                               &c.slices, &c.src.base, &c.src.x,     &c.width};

            c.src.y = c.src.z = 1;
            *fields[i] = MOST >> shift;
            EXPECT_EQ(vcuda_place_span(&c, &c.src, &first), 0);
        }
    }
}

CASE(rows_and_slices_apart) {
    struct vcuda_copy3d c = box(90, 5, 2);

    c.src.x = 10;
    EXPECT(vcuda_place_apart(&c, &c.src));
    c.src.x = 11;
    EXPECT(!vcuda_place_apart(&c, &c.src));
    c.src.x = MOST;
    EXPECT(!vcuda_place_apart(&c, &c.src));
    c = box(90, 5, 2);
    c.src.y = 6;
    EXPECT(!vcuda_place_apart(&c, &c.src));
    c.src.y = MOST;
    EXPECT(!vcuda_place_apart(&c, &c.src));
}

/* The driver's 2D copy does not look at slices: nor may the check count with them. */
CASE(one_slice) {
    struct vcuda_copy3d c = box(90, 5, 1);

    c.form = VCUDA_FORM_2D;
    c.src.height = 0;
    EXPECT(vcuda_place_apart(&c, &c.src));
    c.src.z = 1;
    EXPECT(!vcuda_place_apart(&c, &c.src));
    c.src.z = 0;
    c.slices = 2;
    EXPECT(!vcuda_place_apart(&c, &c.src));
}

#define CASES(X)                                                                                   \
    X(every_small_box)                                                                             \
    X(nothing_to_copy)                                                                             \
    X(beyond_the_address_space)                                                                    \
    X(rows_and_slices_apart)                                                                       \
    X(one_slice)

SUITE(copy3d, CASES)
